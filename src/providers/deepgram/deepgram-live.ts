// Deepgram's streaming adapter: wss …/v1/listen with the query of the pre-recorded endpoint (developers.deepgram.com, checked 2026-11-20). Its final results
// are assembled into the body that a file would have had, so that one parser reads both.
import { gapBetween, joinWords } from "../../lib/text/join-words.ts";
import { z } from "zod";
import { ProviderError, type StreamingIo } from "../io.ts";
import { type LiveReader, streamOverSocket } from "../wire/live-wire.ts";
import {
  LIVE_SAMPLE_RATE,
  type ProviderSegment,
  type SpeechAudio,
  type SpeechEvent,
  type SpeechPlan,
} from "../provider.ts";
import { confidenceOrNull } from "../wire/reply-values.ts";

/** Deepgram closes the stream after ten seconds without a frame. */
const KEEP_ALIVE = { text: JSON.stringify({ type: "KeepAlive" }), everyMs: 4_000 };

export function streamDeepgram(plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo): AsyncIterable<SpeechEvent> {
  if (plan.kind !== "raw") throw new TypeError("deepgram takes raw audio");
  const isMultichannel = plan.query.some(([name, value]) => name === "multichannel" && value === "true");
  return streamOverSocket(
    {
      request: {
        path: plan.path,
        query: [...plan.query, ...encodingOf(audio)],
        headers: io.credential === null ? {} : { authorization: `Token ${io.credential}` },
        keepAlive: KEEP_ALIVE,
      },
      frames: () => framesOf(audio),
      reader: createReader(isMultichannel),
    },
    io,
  );
}

/** Containers describe their own content. Declaring it as well makes Deepgram misread them. */
function encodingOf({ live }: SpeechAudio): readonly (readonly [string, string])[] {
  if (live !== "pcm_s16le") return [];
  return [
    ["encoding", "linear16"],
    ["sample_rate", String(LIVE_SAMPLE_RATE)],
    ["channels", "1"],
  ];
}

async function* framesOf(audio: SpeechAudio): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of audio.open()) {
    // An empty frame would end the stream.
    if (chunk.byteLength > 0) yield chunk;
  }
  yield JSON.stringify({ type: "CloseStream" });
}

const word = z.looseObject({
  word: z.string(),
  punctuated_word: z.string().nullish(),
  start: z.number(),
  end: z.number(),
  confidence: z.unknown().optional(),
  speaker: z.union([z.number(), z.string()]).nullish(),
});
type Word = z.infer<typeof word>;

const results = z.object({
  type: z.literal("Results"),
  channel_index: z.array(z.number()).min(1),
  start: z.number(),
  duration: z.number(),
  is_final: z.boolean(),
  channel: z.object({
    alternatives: z
      .array(
        z.object({
          transcript: z.string(),
          confidence: z.unknown().optional(),
          words: z.array(word).nullish(),
          languages: z.array(z.string()).nullish(),
        }),
      )
      .min(1),
  }),
  metadata: z.object({ request_id: z.string().nullish(), model_info: z.looseObject({}).nullish() }).nullish(),
});
type Results = z.infer<typeof results>;
const metadata = z.object({
  type: z.literal("Metadata"),
  request_id: z.string().nullish(),
  duration: z.unknown().optional(),
  channels: z.int().min(1).max(20),
});
const messageSchema = z.discriminatedUnion("type", [results, metadata]);

const TYPES: ReadonlySet<string> = new Set(["Results", "Metadata", "Error"]);
/** Sent where another model than nova-3 is configured with key terms. The stream continues (changelog of October 2026). */
const warning = z.object({ type: z.literal("Error"), code: z.literal("KeytermsNotSupported") });

interface Utterance {
  readonly transcript: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number | null;
  readonly channel: number;
  readonly speaker: number | string | null;
}

function createReader(isMultichannel: boolean): LiveReader {
  const finals: Results[] = [];
  let model: unknown = null;
  let body: object | null = null;
  return {
    types: TYPES,
    isWarning: (message) => warning.safeParse(message).success,
    read: (message) => {
      if (!isOfInterest(message)) return [];
      const { data, success } = messageSchema.safeParse(message);
      if (!success) throw new ProviderError("bad_reply", { reason: "missing_fields" });
      if (data.type === "Metadata") {
        body = bodyOf(finals, data, model);
        return [];
      }
      model ??= modelInfo(data);
      if (!data.is_final || textOf(data) === "") return [];
      const gap = gapBetween(textBefore(finals), textOf(data));
      finals.push(data);
      const segments = utterancesOf(data).map((utterance) => segmentOf(utterance, isMultichannel));
      return [
        // The whole text of several channels is ordered by time, unlike the results.
        ...(isMultichannel ? [] : [{ type: "text", text: `${gap}${textOf(data)}` } as const]),
        ...segments.map((segment) => ({ type: "segment", segment }) as const),
      ];
    },
    end: () => body,
    closeFailure: ({ code, reason, dispatched }) =>
      // "The payload cannot be decoded as audio."
      code === 1008 && dispatched && reason.includes("DATA-0000")
        ? new ProviderError("rejected", { reason: "DATA-0000" })
        : null,
  };
}

/** Other messages, such as an error without a documented code, end nothing by themselves: the close that follows does. */
function isOfInterest(message: unknown): boolean {
  const type = z.object({ type: z.string() }).safeParse(message).data?.type;
  return type === "Results" || type === "Metadata";
}

function modelInfo({ metadata: about }: Results): unknown {
  const info = about?.model_info ?? null;
  if (info === null) return null;
  // A stream returns one model's description, a file one entry per model.
  return Object.values(info).every((value) => typeof value === "object") ? info : { model: info };
}

function textBefore(finals: readonly Results[]): string {
  const last = finals.at(-1);
  return last === undefined ? "" : textOf(last);
}

function textOf({ channel }: Results): string {
  return channel.alternatives[0]?.transcript.trim() ?? "";
}

/** A result is what was said between two pauses, by one or more speakers. */
function utterancesOf(result: Results): readonly Utterance[] {
  const [alternative] = result.channel.alternatives;
  const channel = result.channel_index[0] ?? 0;
  const words = alternative?.words ?? [];
  const runs = speakerRuns(words);
  if (runs.length <= 1) {
    return [
      {
        transcript: textOf(result),
        start: words[0]?.start ?? result.start,
        end: words.at(-1)?.end ?? result.start + result.duration,
        confidence: confidenceOrNull(alternative?.confidence),
        channel,
        speaker: words[0]?.speaker ?? null,
      },
    ];
  }
  return runs.map(({ first, last, all }) => ({
    transcript: joinWords(all.map((each) => each.punctuated_word ?? each.word)),
    start: first.start,
    end: last.end,
    confidence: null,
    channel,
    speaker: first.speaker ?? null,
  }));
}

interface SpeakerRun {
  readonly first: Word;
  last: Word;
  readonly all: Word[];
}

function speakerRuns(words: readonly Word[]): readonly SpeakerRun[] {
  const runs: SpeakerRun[] = [];
  for (const each of words) {
    const current = runs.at(-1);
    if (current === undefined || current.first.speaker !== each.speaker) {
      runs.push({ first: each, last: each, all: [each] });
    } else {
      current.last = each;
      current.all.push(each);
    }
  }
  return runs;
}

function segmentOf(utterance: Utterance, isMultichannel: boolean): ProviderSegment {
  const { transcript, speaker, channel, ...times } = utterance;
  return {
    ...times,
    text: transcript,
    speaker: speaker === null ? null : String(speaker),
    channel: isMultichannel ? channel : null,
  };
}

function bodyOf(finals: readonly Results[], about: z.infer<typeof metadata>, model: unknown): object {
  const channels = Array.from({ length: about.channels }, (_, index) => {
    const channelResults = finals.filter(({ channel_index: [channel] }) => channel === index);
    const alternatives = channelResults.flatMap(({ channel }) => channel.alternatives.slice(0, 1));
    return {
      alternatives: [
        {
          transcript: joinWords(channelResults.map(textOf)),
          words: alternatives.flatMap(({ words }) => words ?? []),
          languages: alternatives[0]?.languages ?? null,
        },
      ],
    };
  });
  return {
    metadata: { request_id: about.request_id, duration: about.duration, model_info: model },
    results: { channels, utterances: finals.flatMap(utterancesOf) },
  };
}
