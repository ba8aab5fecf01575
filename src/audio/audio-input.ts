// The audio of one request as the HTTP layer passes it on: bytes in the spool, or a URL to fetch [request-body.sources].
import type { SpooledAudio } from "./spool.ts";

/** The request field that contained the audio, which an error about the audio names. */
export type AudioParam = "file" | "audio.url" | "audio.base64" | "audio.data" | "audio";

export type AudioInput =
  | {
      readonly kind: "spooled";
      /** The caller disposes it. */
      readonly spooled: SpooledAudio;
      readonly param: AudioParam;
      readonly mediaTypeHint: string | null;
      readonly fileNameHint: string | null;
    }
  | {
      readonly kind: "url";
      readonly url: string;
      readonly mediaTypeHint: string | null;
      readonly fileNameHint: string | null;
    };
