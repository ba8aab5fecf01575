// How much a provider's answer may be, by what it was asked for: so much for each second of audio or each token, and a constant. What
// says more is no answer to the request, and is refused before it is parsed.

export interface ReplyBound {
  /** Of a reply in one piece. */
  readonly maxBytes: number;
  /** JSON values of it, names of members included. */
  readonly maxValues: number;
  /** Of a stream, on the wire. */
  readonly maxStreamBytes: number;
  /** What a stream says, taken together. */
  readonly maxContentBytes: number;
}

const MEBIBYTE = 1024 * 1024;
/** Of any reply, and the most of one that has no other bound. */
export const MAX_REPLY_BYTES = 64 * MEBIBYTE;
/** Two million values take 128 MB parsed; a day of speech with word times has as many. */
const MAX_VALUES = 2_000_000;

/** Lists of models and runs, uploads, deletions. */
export const PLAIN_REPLY: ReplyBound = {
  maxBytes: 4 * MEBIBYTE,
  maxValues: 200_000,
  maxStreamBytes: 4 * MEBIBYTE,
  maxContentBytes: 4 * MEBIBYTE,
};

/**
 * Fast speech is five words a second; of each a provider says nine values, once among the words and once among the utterances, in some
 * 300 bytes. Each channel is a transcript of its own.
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

/** Live audio has no length yet: its messages are bounded by their rate, and all of them together by this. */
export const LIVE_REPLY: ReplyBound = {
  maxBytes: MEBIBYTE,
  maxValues: AUDIO_VALUES,
  maxStreamBytes: MAX_REPLY_BYTES,
  maxContentBytes: MAX_REPLY_BYTES,
};

/** The dearest scripts, each letter escaped, take 20 bytes a token. An event carries a token in some 300 bytes. */
const CONTENT_BYTES_PER_TOKEN = 64;
const CONTENT_BYTES = 256 * 1024;
const MAX_CONTENT_BYTES = 8 * MEBIBYTE;
const STREAM_BYTES_PER_TOKEN = 4_096;
const CHAT_VALUES = 10_000;

/** `maxTokens`: the most that the answer may have; null: unknown. */
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
