// What the two carriers of a submission, JSON and multipart, have in common: what they are given and what they bring.
import type { Readable } from "node:stream";
import type { AudioIntake } from "./audio-intake.ts";
import type { Faults } from "./validation-issues.ts";
import type { FieldSchema } from "./fields.ts";

/** What a body, JSON or form, comes down to. */
export interface RawBody {
  readonly fields: ReadonlyMap<string, unknown>;
  /** Members of `audio` other than base64 and data that hold text, as sent. */
  readonly audio: ReadonlyMap<string, unknown>;
  /** Of the file part. */
  readonly fileName: string | null;
  readonly mediaType: string | null;
}

export interface BodyReading {
  readonly body: Readable;
  readonly intake: AudioIntake;
  readonly faults: Faults;
  readonly schema: FieldSchema;
  readonly maxAudioBytes: number;
}

export const FORM_FRAMING_BYTES = 65_536;
/** Of a JSON body what is no audio. */
export const MAX_REST_BYTES = 1_048_576;
