// Identifies and measures audio by its content and its packets, before any provider is called [measuring.content-decides] [measuring.true-length].
import type { AudioInput } from "../../audio/audio-input.ts";
import { callerGone } from "../calls/attempt-end.ts";
import { MEDIA, mediaTypeMatches } from "../../audio/media-types.ts";
import type { Measurement } from "../../audio/measure.ts";
import { GatewayError } from "../../contract/errors.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import { BUNDLED_SAMPLE } from "../../providers/local/demonstration.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import type { GatewayServices } from "../services.ts";

export interface MeasuredAudio {
  readonly speech: SpeechAudio;
  readonly warnings: readonly Warning[];
}

export interface MeasureCall {
  readonly audio: AudioInput;
  readonly workspaceId: WorkspaceId;
  /** Aborted when the measurement is no longer needed. */
  readonly signal?: AbortSignal;
}

export async function measureAudio(
  services: Pick<GatewayServices, "measurer" | "limits">,
  call: MeasureCall,
): Promise<MeasuredAudio> {
  const { audio, workspaceId, signal } = call;
  if (audio.kind === "url") throw new Error("remote audio is fetched before it is measured");
  const { spooled, param } = audio;
  const measurement = await services.measurer
    .measure(spooled.source, { owner: workspaceId, ...(signal === undefined ? {} : { signal }) })
    .catch((error: unknown) => {
      throw signal?.aborted === true ? callerGone() : error;
    });
  if (!measurement.ok) throw new GatewayError(measurement.code, { message: `The audio ${measurement.reason}.`, param });
  const { format, durationSeconds, channels, codec, sampleRate } = measurement;
  refuseTooLong(services, durationSeconds, param);
  const { mediaType, extension } = MEDIA[format];
  const warnings: Warning[] = [];
  if (!mediaTypeMatches(format, audio.mediaTypeHint, audio.fileNameHint)) warnings.push(mismatch(mediaType));
  warnings.push(...warningsOf(measurement));
  return {
    speech: {
      format,
      mediaType,
      // Some providers rely on file names: the name is derived from the content, never the caller's.
      fileName: `audio${extension}`,
      sizeBytes: spooled.sizeBytes,
      durationSeconds,
      channels,
      codec,
      sampleRate,
      // Hashed only where it can matter: a model on this machine may accept certain recordings only.
      ...(spooled.sizeBytes === BUNDLED_SAMPLE.sizeBytes ? { sha256: await spooled.sha256() } : {}),
      open: spooled.open,
    },
    warnings,
  };
}

export function refuseTooLong(
  { limits }: { readonly limits: Pick<GatewayServices["limits"], "maxAudioDurationSeconds"> },
  durationSeconds: number,
  param: string,
): void {
  const limit = limits.maxAudioDurationSeconds;
  if (durationSeconds <= limit) return;
  throw new GatewayError("AUDIO_TOO_LONG", {
    message: `The audio lasts ${durationSeconds} s; the maximum is ${limit} s.`,
    param,
    details: { max_audio_duration_seconds: limit, audio_seconds: durationSeconds },
  });
}

/** Warnings about parts of the file that are not transcribed, or not certain to be. */
function warningsOf(measurement: Extract<Measurement, { ok: true }>): readonly Warning[] {
  const { audioTracks, trailingBytes = 0, uneditedSeconds, durationSeconds } = measurement;
  return [
    ...(audioTracks > 1 ? [severalTracks(audioTracks)] : []),
    ...(trailingBytes > 0 ? [trailingData(trailingBytes)] : []),
    ...(uneditedSeconds === undefined ? [] : [editList(uneditedSeconds, durationSeconds)]),
  ];
}

function trailingData(bytes: number): Warning {
  return {
    code: "TRAILING_DATA_IGNORED",
    message: `The last ${bytes} bytes of the file follow its audio data; they were neither measured nor charged.`,
    param: null,
    details: { trailing_bytes: bytes },
  };
}

function editList(trackSeconds: number, playedSeconds: number): Warning {
  return {
    code: "EDIT_LIST_APPLIED",
    message: `The file's edit list plays ${playedSeconds} s of a track of ${trackSeconds} s; the played part was measured.`,
    param: null,
    details: { track_seconds: trackSeconds, played_seconds: playedSeconds },
  };
}

function mismatch(mediaType: string): Warning {
  return {
    code: "MEDIA_TYPE_MISMATCH",
    message: `The declared type or file name does not match the content, which is ${mediaType}; the content was used.`,
    param: "audio.media_type",
    details: { media_type: mediaType },
  };
}

function severalTracks(count: number): Warning {
  return {
    code: "MULTIPLE_AUDIO_TRACKS",
    message: `The file contains ${count} audio tracks; the provider chooses which one is transcribed.`,
    param: null,
    details: { audio_tracks: count },
  };
}
