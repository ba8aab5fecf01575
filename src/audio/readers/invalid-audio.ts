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

/** What a reader found out. */
export type Reading = {
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  readonly durationSeconds: number;
  readonly audioTracks: number;
};

export const CHUNK_LIMIT = 10_000;
export const DEPTH_LIMIT = 32;
