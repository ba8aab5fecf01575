// Decodes MPEG audio (mp3) without an external program: libmpg123 as WebAssembly, in a worker thread that gets the recording in small pieces
// [measuring.decoder-mpeg] (docs/decisions/0051).
import { setImmediate } from "node:timers/promises";
import type { MpegThreads } from "./mpeg-threads.ts";
import { type DecodableAudio, type EncodedAudio, SPEECH_RATE, Undecodable } from "./pcm.ts";

/** Codec names of readers/mpeg-audio.ts. */
export const MPEG_CODECS: ReadonlySet<string> = new Set(["mp1", "mp2", "mp3"]);

const PIECE_BYTES = 16_384;
const FRAMES_AT_ONCE = 16_384;

/** Has the sample rate of speech models. Starting ffmpeg takes ten times as long as decoding a sentence of it [measuring.decoder-direct]. */
export function isSpeechMpeg({ format, codec, sampleRate }: DecodableAudio): boolean {
  return format === "mp3" && codec !== undefined && MPEG_CODECS.has(codec) && sampleRate === SPEECH_RATE;
}

export interface MpegCall {
  readonly threads: MpegThreads;
  readonly isMono: boolean;
  readonly signal: AbortSignal;
}

export async function* decodeMpeg(
  audio: EncodedAudio,
  { threads, isMono, signal }: MpegCall,
): AsyncGenerator<Int16Array> {
  const { sampleRate, channels } = audio;
  if (sampleRate === undefined) throw new Undecodable("no_decoder");
  const thread = threads.open({ sampleRate, channels, isMono }, signal);
  const samplesAtOnce = FRAMES_AT_ONCE * (isMono ? 1 : channels);
  try {
    const encoded = pieces(withoutTags(audio.open("passing")));
    for await (const samples of oneAhead(encoded, (piece) => thread.decode(piece))) {
      for (let at = 0; at < samples.length; at += samplesAtOnce) {
        // Yields to the event loop: answers that arrive fast would otherwise all be handled in one tick.
        await setImmediate();
        yield samples.subarray(at, at + samplesAtOnce);
      }
    }
  } finally {
    await thread.close();
  }
}

/** Hands over the next piece before the one ahead of it is decoded, so that the thread does not wait while its samples are used. */
async function* oneAhead<T, R>(items: AsyncIterable<T>, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  let ahead: Promise<R> | null = null;
  for await (const item of items) {
    const result = work(item);
    // If the one ahead of it fails, nothing awaits this one.
    result.catch(() => undefined);
    if (ahead !== null) yield await ahead;
    ahead = result;
  }
  if (ahead !== null) yield await ahead;
}

/** Copies, because each is handed to the thread and a chunk may be reused. */
async function* pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES)
      yield new Uint8Array(chunk.subarray(at, at + PIECE_BYTES));
}

const TAG_HEAD_BYTES = 10;

/** Skips ID3v2 tags at the beginning, which can be larger than the sound. The decoder would collect them. */
async function* withoutTags(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  let skip = 0;
  let isInTags = true;
  for await (const chunk of chunks) {
    if (!isInTags) {
      yield chunk;
      continue;
    }
    let rest = chunk;
    for (;;) {
      const skipped = Math.min(skip, rest.byteLength);
      skip -= skipped;
      rest = rest.subarray(skipped);
      if (skip > 0 || rest.byteLength === 0) break;
      head = Buffer.concat([head, rest]);
      if (head.byteLength < TAG_HEAD_BYTES) break;
      const size = tagBytes(head);
      if (size === 0) {
        isInTags = false;
        yield head;
        break;
      }
      [rest, head, skip] = [head, new Uint8Array(0), size];
    }
  }
  if (isInTags && head.byteLength > 0) yield head;
}

/** 0: no tag begins here. */
function tagBytes(head: Uint8Array): number {
  const [i, d, three, version = 0xff, , flags = 0, ...size] = head.subarray(0, TAG_HEAD_BYTES);
  if (i !== 0x49 || d !== 0x44 || three !== 0x33 || version === 0xff || size.some((byte) => byte > 0x7f)) return 0;
  const bytes = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return TAG_HEAD_BYTES + bytes + ((flags & 0x10) === 0 ? 0 : TAG_HEAD_BYTES);
}
