// The error of a reader that finds unacceptable audio. measure-source.ts maps it to a 422 error.

/**
 * Thrown, not returned: it can occur at any depth of a container, and only the outermost caller handles it.
 * `reason` completes the sentence "The audio …" and never contains anything that the caller sent.
 */
export class InvalidAudio extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.name = "InvalidAudio";
    this.reason = reason;
  }
}

/** Valid sound in an unsupported container: 415 instead of 422. */
export class UnsupportedContainer extends InvalidAudio {}

/** The result of a reader. */
export type Reading = {
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  readonly durationSeconds: number;
  readonly audioTracks: number;
  /** Bytes after the sound that no decoder plays. */
  readonly trailingBytes?: number;
  /** Duration of the whole track, if an edit list skips or repeats a part of it. */
  readonly uneditedSeconds?: number;
};

export const MINIMUM_SECONDS = 0.1;

export const CHUNK_LIMIT = 10_000;
export const DEPTH_LIMIT = 32;
