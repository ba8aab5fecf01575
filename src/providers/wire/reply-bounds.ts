// Limits the size of a provider's answer: a constant plus an amount per second of audio or per token. A larger one cannot be an answer to the request and is
// refused before it is parsed.

export interface ReplyBound {
  /** Limit of a buffered reply. */
  readonly maxBytes: number;
  /** JSON values, including member names. */
  readonly maxValues: number;
  /** Limit of a streamed reply on the wire. */
  readonly maxStreamBytes: number;
  /** Limit of a stream's total content. */
  readonly maxContentBytes: number;
}

const MEBIBYTE = 1024 * 1024;
/** The hard limit of any reply, and the default. */
export const MAX_REPLY_BYTES = 64 * MEBIBYTE;
/** Two million values take 128 MB parsed. A day of speech with word times has as many. */
const MAX_VALUES = 2_000_000;

/** For lists of models and runs, uploads, deletions. */
export const PLAIN_REPLY: ReplyBound = {
  maxBytes: 4 * MEBIBYTE,
  maxValues: 200_000,
  maxStreamBytes: 4 * MEBIBYTE,
  maxContentBytes: 4 * MEBIBYTE,
};

/**
 * Fast speech has five words a second. For each a provider sends nine values, once among the words and once among the utterances, in some 300 bytes. Each
 * channel is a separate transcript.
 */
const AUDIO_BYTES_PER_SECOND = 4_096;
const AUDIO_VALUES_PER_SECOND = 100;
const AUDIO_VALUES = 10_000;

export function speechReplyBound(audio: { readonly durationSeconds: number; readonly channels: number }): ReplyBound {
  const seconds = audio.durationSeconds * Math.max(1, audio.channels);
  const maxBytes = Math.min(MEBIBYTE + seconds * AUDIO_BYTES_PER_SECOND, MAX_REPLY_BYTES);
  return {
    maxBytes,
    maxValues: Math.min(AUDIO_VALUES + seconds * AUDIO_VALUES_PER_SECOND, MAX_VALUES),
    maxStreamBytes: maxBytes,
    maxContentBytes: maxBytes,
  };
}

/** Live audio has no known length: its messages are limited by their rate, and in total by this. */
export const LIVE_REPLY: ReplyBound = {
  maxBytes: MEBIBYTE,
  maxValues: AUDIO_VALUES,
  maxStreamBytes: MAX_REPLY_BYTES,
  maxContentBytes: MAX_REPLY_BYTES,
};

/** The most expensive scripts, with each letter escaped, take 20 bytes a token. An event for one token takes some 300 bytes. */
const CONTENT_BYTES_PER_TOKEN = 64;
const CONTENT_BYTES = 256 * 1024;
const MAX_CONTENT_BYTES = 8 * MEBIBYTE;
const STREAM_BYTES_PER_TOKEN = 4_096;
const CHAT_VALUES = 10_000;

/** `maxTokens` is the most that the answer may have. Null: unknown. */
export function chatReplyBound(maxTokens: number | null): ReplyBound {
  const tokens = maxTokens ?? Number.POSITIVE_INFINITY;
  const maxContentBytes = Math.min(CONTENT_BYTES + tokens * CONTENT_BYTES_PER_TOKEN, MAX_CONTENT_BYTES);
  return {
    maxBytes: maxContentBytes,
    maxValues: Math.min(CHAT_VALUES + 2 * tokens, MAX_VALUES / 8),
    maxStreamBytes: Math.min(MEBIBYTE + tokens * STREAM_BYTES_PER_TOKEN, MAX_REPLY_BYTES),
    maxContentBytes,
  };
}
