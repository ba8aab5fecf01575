// Builds OpenAI's success bodies and stream events for audio.
import { toSrt, toVtt } from "../captions.ts";
import { languageName } from "../languages.ts";
import { openAiHeaders } from "./openai-errors.ts";
import type { OpenAiAsked } from "./openai-rules.ts";
import { bareWord, type SimulatedChannel, type SimulatedSegment, segmentsOf, simulateMixed } from "../simulate.ts";
import { verboseSegment } from "./verbose-segment.ts";
import { type Alteration, type EventBody, jsonAnswer, type WireAnswer } from "../wire/wire.ts";

interface ReplyFacts {
  readonly asked: OpenAiAsked;
  readonly facts: { readonly durationSeconds: number; readonly channels: number };
  readonly requestId: string;
  readonly alteration: Alteration;
}
interface ReplyContext extends ReplyFacts {
  readonly channel: SimulatedChannel;
  readonly segments: readonly SimulatedSegment[];
}

export function openAiReply(reply: ReplyFacts): WireAnswer {
  const { asked, facts, requestId, alteration } = reply;
  const channel = simulateMixed(facts, alteration);
  const context: ReplyContext = {
    ...reply,
    channel,
    segments: alteration.drops.has("timestamps.segment") ? [] : segmentsOf(channel),
  };
  const headers = openAiHeaders(requestId);
  if (asked.isStream)
    return {
      status: 200,
      headers: { ...headers, "content-type": "text/event-stream; charset=utf-8" },
      body: streamEvents(context),
    };
  const text = (body: string): WireAnswer => ({
    status: 200,
    headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
    body,
  });
  switch (asked.format) {
    case "text":
      return text(`${channel.text}\n`);
    case "srt":
      return text(toSrt(context.segments));
    case "vtt":
      return text(toVtt(context.segments));
    case "verbose_json":
      return jsonAnswer(200, verboseBody(context), headers);
    case "diarized_json":
      return jsonAnswer(200, diarizedBody(context), headers);
    case "json":
      return jsonAnswer(200, plainBody(context), headers);
  }
}

function plainBody(context: ReplyContext): Record<string, unknown> {
  const { asked, channel } = context;
  if (asked.task === "translate") return { text: channel.text };
  return {
    text: channel.text,
    ...languagesOf(context),
    ...(asked.hasLogprobs ? { logprobs: logprobsOf(channel) } : {}),
    usage: usageOf(context),
  };
}

function verboseBody(context: ReplyContext): Record<string, unknown> {
  const { asked, facts, channel, segments, alteration } = context;
  const language = asked.task === "translate" ? "english" : languageName(asked.languages[0] ?? "en");
  const words = channel.words.map(({ text, start, end }) => ({ word: bareWord(text), start, end }));
  return {
    task: asked.task,
    ...(alteration.drops.has("language") ? {} : { language }),
    duration: alteration.duration ?? facts.durationSeconds,
    text: channel.text,
    ...(asked.hasWords && !alteration.drops.has("timestamps.word") ? { words } : {}),
    ...(asked.hasSegments && !alteration.drops.has("timestamps.segment")
      ? { segments: segments.map(verboseSegment) }
      : {}),
    ...(asked.task === "translate" ? {} : { usage: usageOf(context) }),
  };
}

function diarizedBody(context: ReplyContext): Record<string, unknown> {
  const { facts, channel, alteration } = context;
  return {
    task: "transcribe",
    duration: alteration.duration ?? facts.durationSeconds,
    text: channel.text,
    segments: diarizedSegments(context).map((segment) => ({ type: "transcript.text.segment", ...segment })),
    usage: usageOf(context),
  };
}

function diarizedSegments({ asked, segments, alteration }: ReplyContext): Record<string, unknown>[] {
  const nameOf = (speaker: number): string => asked.speakerNames[speaker] ?? String.fromCharCode(65 + speaker);
  return segments.map(({ text, start, end, speaker }, index) => ({
    id: `seg_${String(index + 1).padStart(3, "0")}`,
    start,
    end,
    text,
    ...(alteration.drops.has("diarization") ? {} : { speaker: nameOf(speaker) }),
  }));
}

/** Two models report seconds rounded up, the others tokens. Only seconds can be checked against the audio. */
function usageOf({ asked, facts, channel, alteration }: ReplyContext): Record<string, unknown> {
  const seconds = alteration.duration ?? Math.ceil(facts.durationSeconds);
  if (asked.model.usage === "duration") return { type: "duration", seconds };
  return { type: "tokens", ...tokensOf(facts.durationSeconds, channel) };
}

function tokensOf(durationSeconds: number, channel: SimulatedChannel): Record<string, unknown> {
  const audio = Math.ceil(durationSeconds * 10);
  const output = channel.words.length;
  return {
    input_tokens: audio,
    input_token_details: { text_tokens: 0, audio_tokens: audio },
    output_tokens: output,
    total_tokens: audio + output,
  };
}

function languagesOf({ asked, alteration }: ReplyContext): Record<string, unknown> {
  if (asked.model.family !== "gpt-transcribe") return {};
  return { languages: alteration.drops.has("language") ? [] : [{ code: asked.languages[0] ?? "en" }] };
}

const logprobsOf = (channel: SimulatedChannel): Record<string, unknown>[] =>
  channel.words.map(({ text }, index) => {
    const token = index === 0 ? text : ` ${text}`;
    return { token, logprob: -0.01, bytes: [...Buffer.from(token)] };
  });

/** The done event's usage has no `type`, as in the documentation. */
function streamEvents(context: ReplyContext): EventBody {
  const { asked, facts, channel } = context;
  const logprobs = asked.hasLogprobs ? logprobsOf(channel) : null;
  const isDiarized = asked.format === "diarized_json";
  const pieces = isDiarized
    ? diarizedSegments(context).map((segment) => ({ type: "transcript.text.segment", ...segment }))
    : channel.words.map(({ text }, index) => ({
        type: "transcript.text.delta",
        delta: index === 0 ? text : ` ${text}`,
        ...(logprobs === null ? {} : { logprobs: [logprobs[index]] }),
      }));
  const doneEvent = {
    type: "transcript.text.done",
    text: channel.text,
    ...languagesOf(context),
    ...(logprobs === null ? {} : { logprobs }),
    usage: tokensOf(facts.durationSeconds, channel),
  };
  const text = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
  const error = { message: "The server had an error.", type: "server_error", param: null, code: null };
  return { head: [], contents: pieces.map(text), end: [text(doneEvent)], failure: text({ error }) };
}
