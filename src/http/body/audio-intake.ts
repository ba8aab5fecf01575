// Accepts the one audio source of a request, from a file part or base64 text, and releases it when the request fails [request-body.one-source].
import { type Base64Decoder, createBase64Decoder } from "../../audio/base64.ts";
import type { AudioParam } from "../../audio/audio-input.ts";
import type { Spool, SpooledAudio, SpoolWriter } from "../../audio/spool.ts";
import type { Faults } from "./validation-issues.ts";

export interface TakenAudio {
  readonly spooled: SpooledAudio;
  readonly param: AudioParam;
  /** From a `data:` prefix. */
  readonly mediaType: string | null;
}

export interface AudioIntake {
  /** The raw bytes of a file part. */
  beginBytes(param: AudioParam): (bytes: Uint8Array) => Promise<void> | void;
  beginBase64(param: AudioParam, options: { readonly lineBreaks: boolean }): Base64Intake;
  /** The sources that have started, in their order. */
  readonly params: readonly AudioParam[];
  finish(): Promise<TakenAudio | null>;
  abort(): Promise<void>;
}

export interface Base64Intake {
  push(text: Uint8Array): Promise<void> | void;
  end(): Promise<void> | void;
}

export function createAudioIntake(options: {
  readonly spool: Spool;
  readonly maxBytes: number;
  /** Whether to compute a hash of the audio. */
  readonly hashed: boolean;
  /** Minimum size according to the Content-Length. */
  readonly leastBytes: number;
  readonly faults: Faults;
}): AudioIntake {
  const { spool, maxBytes, hashed, leastBytes } = options;
  const params: AudioParam[] = [];
  let writer: SpoolWriter | null = null;
  let mediaType: string | null = null;

  /** Only the first source is stored: a second one is an error and must not fill the disk. */
  function begin(param: AudioParam): SpoolWriter | null {
    params.push(param);
    if (params.length > 1) return null;
    writer = spool.begin({ maxBytes, param, hashed, leastBytes });
    return writer;
  }

  return {
    beginBytes(param) {
      const target = begin(param);
      return (bytes) => target?.write(bytes);
    },
    beginBase64(param, { lineBreaks }) {
      const target = begin(param);
      const decoder: Base64Decoder | null = target === null ? null : createBase64Decoder({ lineBreaks });
      return {
        push(text) {
          const bytes = decoder?.push(text);
          return bytes === undefined || bytes.length === 0 ? undefined : target?.write(bytes);
        },
        end() {
          const ending = decoder?.end();
          if (ending === undefined) return undefined;
          if (!ending.outcome.ok) {
            options.faults.add(param, `\`${param}\` is not base64. ${ending.outcome.message}`);
            return undefined;
          }
          mediaType = ending.outcome.mediaType;
          return ending.rest.length === 0 ? undefined : target?.write(ending.rest);
        },
      };
    },
    params,
    async finish() {
      const [param] = params;
      return writer === null || param === undefined ? null : { spooled: await writer.finish(), param, mediaType };
    },
    async abort() {
      await writer?.abort();
    },
  };
}
