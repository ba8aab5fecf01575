// The one way out of a reader that meets audio it cannot accept; measure-source.ts turns it into the 422 verdict.

/**
 * Thrown, not returned: a refusal can arise at any depth of a container, and no caller but the outermost has a choice.
 * `reason` finishes the sentence "The audio …" and never holds anything the caller sent.
 */
export class InvalidAudio extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.name = "InvalidAudio";
    this.reason = reason;
  }
}

/** Sound in a container that is not accepted: 415, where `InvalidAudio` alone is 422. */
export class UnsupportedContainer extends InvalidAudio {}

/** What a reader found out. */
export type Reading = {
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  readonly durationSeconds: number;
  readonly audioTracks: number;
  /** Bytes behind the sound that no decoder plays. */
  readonly trailingBytes?: number;
  /** How long the whole track would play, where an edit list leaves a part of it out or repeats one. */
  readonly uneditedSeconds?: number;
};

export const MINIMUM_SECONDS = 0.1;

export const CHUNK_LIMIT = 10_000;
export const DEPTH_LIMIT = 32;
