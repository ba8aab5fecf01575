// The audio of one request as the edge hands it on: bytes in the spool, or a URL to fetch (spec 2.1).
import type { SpooledAudio } from "./spool.ts";

export type AudioInput =
  | {
      readonly kind: "spooled";
      readonly spooled: SpooledAudio;
      /** The field that carried it: what an error about the audio names. */
      readonly param: "file" | "audio.base64" | "audio.data" | "audio";
      readonly mediaTypeHint: string | null;
      readonly fileNameHint: string | null;
    }
  | { readonly kind: "url"; readonly url: string };
