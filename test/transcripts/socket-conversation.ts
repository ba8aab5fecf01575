// How the sockets of Deepgram, AssemblyAI, OpenAI and ElevenLabs report a conversation, message by message, and a socket that plays messages.
import type { StreamingIo, WireMessage } from "../../src/providers/io.ts";
import {
  type Asked,
  byStart,
  channelsOf,
  type Conversation,
  idOf,
  type Spoken,
  textOf,
  turnsOf,
} from "./conversation.ts";

const LONGEST_RESULT_WORDS = 4;

/** A result holds what was said between two pauses, by one speaker or several; interim ones and silence are between them. */
export function deepgramMessages(conversation: Conversation, { diarization }: Asked): readonly object[] {
  const { channels, durationSeconds } = conversation;
  const result = (words: readonly Spoken[], channel: number, isFinal: boolean): object => ({
    type: "Results",
    channel_index: [channel, channels],
    start: words[0]?.start ?? 0,
    duration: (words.at(-1)?.end ?? 0) - (words[0]?.start ?? 0),
    is_final: isFinal,
    channel: {
      alternatives: [
        {
          transcript: textOf(words),
          confidence: 0.9,
          words: words.map(({ text, start, end, confidence, speaker }) => ({
            word: idOf(text),
            punctuated_word: text,
            start,
            end,
            confidence,
            ...(diarization ? { speaker } : {}),
          })),
        },
      ],
    },
    metadata: { request_id: "r", model_info: { name: "general-nova-3", arch: "nova-3" } },
  });
  const chunks = channelsOf(conversation).flatMap((words, channel) =>
    chunked(words).map((chunk) => ({ chunk, channel, start: chunk[0]?.start ?? 0 })),
  );
  return [
    result([], 0, true),
    ...byStart(chunks).flatMap(({ chunk, channel }) => [
      { type: "SpeechStarted", channel: [channel], timestamp: 0 },
      result(chunk.slice(0, 1), channel, false),
      result(chunk, channel, true),
    ]),
    { type: "Metadata", request_id: "r", duration: durationSeconds, channels },
  ];
}

function chunked(words: readonly Spoken[]): readonly (readonly Spoken[])[] {
  const count = Math.ceil(words.length / LONGEST_RESULT_WORDS);
  return Array.from({ length: count }, (_, index) =>
    words.slice(index * LONGEST_RESULT_WORDS, (index + 1) * LONGEST_RESULT_WORDS),
  );
}

/** A turn grows, ends, and is then said again with its punctuation; every third never is. Speakers by turn, or by word too. */
export function assemblyAiMessages(conversation: Conversation, { diarization }: Asked): readonly object[] {
  const turns = turnsOf(conversation).flatMap(({ words, text, speaker }, order) => {
    const label = String.fromCharCode(65 + speaker);
    const message = (all: readonly Spoken[], transcript: string, more: object): object => ({
      type: "Turn",
      turn_order: order,
      turn_is_formatted: false,
      end_of_turn: false,
      transcript,
      words: all.map(({ text: said, start, end, confidence }) => ({
        text: said,
        start: Math.round(start * 1000),
        end: Math.round(end * 1000),
        confidence,
        word_is_final: true,
        ...(diarization && order % 2 === 0 ? { speaker: label } : {}),
      })),
      ...(diarization ? { speaker_label: label } : {}),
      ...more,
    });
    return [
      message(words.slice(0, 1), textOf(words.slice(0, 1)), {}),
      message(words, text, { end_of_turn: true }),
      { type: "Heartbeat", total_audio_received_ms: 1 },
      ...(order % 3 === 2 ? [] : [message(words, text, { end_of_turn: true, turn_is_formatted: true })]),
    ];
  });
  return [
    { type: "Begin", id: "s", expires_at: 1 },
    ...turns,
    { type: "Termination", audio_duration_seconds: conversation.durationSeconds, session_duration_seconds: 1 },
  ];
}

/** One item whose text comes word by word, some words in two pieces, and whole after the commit. */
export function openAiMessages(conversation: Conversation): readonly object[] {
  const name = "conversation.item.input_audio_transcription";
  const text = turnsOf(conversation)
    .map((each) => each.text)
    .join(" ");
  const pieces = text.match(/\s*\S{1,5}/gu) ?? [];
  return [
    { type: "session.created", session: { id: "s" } },
    { type: "session.updated", session: { id: "s" } },
    ...pieces.map((piece) => ({ type: `${name}.delta`, item_id: "i", content_index: 0, delta: piece })),
    { type: "conversation.item.added", item: { id: "i" } },
    { type: "input_audio_buffer.committed", item_id: "i", previous_item_id: null },
    { type: `${name}.completed`, item_id: "i", content_index: 0, transcript: text },
  ];
}

/** What the one commit of a short conversation is answered with, text before times. */
export function elevenLabsMessages(conversation: Conversation): readonly object[] {
  const turns = turnsOf(conversation);
  const text = turns.map((turn) => turn.text).join(" ");
  const words = turns.flatMap((turn) => turn.words);
  return [
    { message_type: "session_started", session_id: "s", config: { model_id: "scribe_v2_realtime" } },
    ...turns.map((turn) => ({ message_type: "partial_transcript", text: turn.text })),
    { message_type: "final_transcript", text },
    { message_type: "committed_transcript", text },
    {
      message_type: "committed_transcript_with_timestamps",
      text,
      words: words.flatMap(({ text: said, start, end, confidence }, index) => [
        ...(index === 0 ? [] : [{ text: " ", start, end: start, type: "spacing", logprob: 0 }]),
        { text: said, start, end, type: "word", logprob: Math.log(confidence ?? 1) },
      ]),
    },
  ];
}

/** No other way out is used. The last messages are the answer to the end of the audio. */
export function playing(
  messages: readonly object[],
  last = 1,
): Pick<StreamingIo, "connect" | "pause" | "credential" | "retain"> {
  const left = messages.map((message): WireMessage => ({ kind: "text", text: JSON.stringify(message) }));
  const asked = Promise.withResolvers<void>();
  return {
    credential: null,
    pause: async () => undefined,
    retain: () => undefined,
    connect: async () => ({
      headers: {},
      send: async () => undefined,
      next: async () => {
        if (left.length <= last) await asked.promise;
        return left.shift() ?? { kind: "close", code: 1000, reason: "", dispatched: true };
      },
      awaitEnd: () => asked.resolve(),
      close: () => undefined,
    }),
  };
}
