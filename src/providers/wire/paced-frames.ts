// Splits 16-bit mono PCM into frames for a socket, and yields them no faster than they are spoken [providers.live-pacing].

export interface FrameLengths {
  readonly samplesPerSecond: number;
  /** The usual and longest frame. */
  readonly frameSeconds: number;
  /** Audio is yielded from this length on. The last frame is padded with silence up to it. */
  readonly minFrameSeconds: number;
}

/** Audio may be this far ahead of real time. */
const AHEAD_MS = 1_000;
const BYTES_PER_SAMPLE = 2;

export async function* pacedFrames(
  chunks: AsyncIterable<Uint8Array>,
  { samplesPerSecond, frameSeconds, minFrameSeconds }: FrameLengths,
  pause: (milliseconds: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const bytesIn = (seconds: number): number => Math.round(samplesPerSecond * seconds) * BYTES_PER_SAMPLE;
  const frameBytes = bytesIn(frameSeconds);
  const leastBytes = bytesIn(minFrameSeconds);
  const startedMs = performance.now();
  let sentBytes = 0;
  let buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    buffer = Buffer.concat([buffer, chunk]);
    while (buffer.byteLength >= leastBytes) {
      const wholeBytes = buffer.byteLength - (buffer.byteLength % BYTES_PER_SAMPLE);
      const frame = buffer.subarray(0, Math.min(wholeBytes, frameBytes));
      const aheadMs = (sentBytes / bytesIn(1)) * 1000 - (performance.now() - startedMs);
      if (aheadMs > AHEAD_MS) await pause(aheadMs - AHEAD_MS);
      yield frame;
      buffer = buffer.subarray(frame.byteLength);
      sentBytes += frame.byteLength;
    }
  }
  if (buffer.byteLength > 0) yield Buffer.concat([buffer, Buffer.alloc(Math.max(0, leastBytes - buffer.byteLength))]);
}
