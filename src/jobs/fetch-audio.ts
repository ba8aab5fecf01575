// How a job gets at `audio.url` (spec 4.4): the guarded fetch, which is somebody else's, behind the one face that jobs know.
import type { SpooledAudio } from "../audio/spool.ts";
import { GatewayError } from "../contract/errors.ts";
import type { WorkspaceId } from "../contract/ids.ts";

export interface FetchRemote {
  /** What can be judged without a connection: throws `AUDIO_URL_REJECTED`. */
  check(workspaceId: WorkspaceId, url: string): Promise<void>;
  /** Throws what the caller is to see as the job's error. */
  load(request: RemoteRequest): Promise<RemoteAudio>;
}

export interface RemoteRequest {
  readonly workspaceId: WorkspaceId;
  readonly url: string;
  readonly signal: AbortSignal;
}

export interface RemoteAudio {
  /** The caller's to dispose. */
  readonly spooled: SpooledAudio;
  readonly mediaTypeHint: string | null;
}

/** Where no host is allowed. */
export const NO_REMOTE_AUDIO: FetchRemote = {
  check: () => Promise.reject(noHostAllowed()),
  load: () => Promise.reject(noHostAllowed()),
};

function noHostAllowed(): GatewayError {
  return new GatewayError("AUDIO_URL_REJECTED", {
    message: "No host is allowed for audio.url on this gateway. Upload the audio as a multipart file or as base64.",
    param: "audio.url",
    details: { reason: "host_not_allowed" },
  });
}
