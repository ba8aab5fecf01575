// The input and output types that the JSON reader and the multipart reader of requests with audio share.
import type { Readable } from "node:stream";
import type { AudioIntake } from "./audio-intake.ts";
import type { Faults } from "./validation-issues.ts";
import type { FieldSchema } from "./fields.ts";

/** A body, JSON or form, after parsing and before validation. */
export interface RawBody {
  readonly fields: ReadonlyMap<string, unknown>;
  /** Text members of `audio` other than base64 and data, as sent. */
  readonly audio: ReadonlyMap<string, unknown>;
  /** The file part's name. */
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
/** Maximum size of a JSON body without its audio. */
export const MAX_REST_BYTES = 1_048_576;
