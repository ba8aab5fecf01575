// Maps failed fetches of an `audio.url` to errors [remote-audio.no-leak]: they name the rule, never an address, the state of a port or anything that the remote
// server wrote.
import { GatewayError } from "../contract/errors.ts";
import { ConnectFailure, GuardRefusal, OutboundError, type RefusalReason } from "../outbound/dial.ts";

type UrlRejection = RefusalReason | "too_many_redirects" | "missing_content_length" | "unsupported_content_type";
type FetchFailure = "http_status" | "connect" | "tls" | "timeout" | "stalled" | "truncated" | "content_encoding";

const REJECTIONS: Readonly<Record<UrlRejection, string>> = {
  malformed:
    "audio.url, or a redirect of it, is not a plain URL: https, a host name in ASCII, no user, at most 8192 characters; blanks, quotes, backslashes and letters beyond ASCII must be percent-encoded.",
  scheme: "audio.url and its redirects must begin with https://.",
  port: "The port of audio.url is not one that this gateway fetches from. Use 443, or ask the operator.",
  host_not_allowed:
    "The host of audio.url, or of a redirect, is neither on the allowlist of this workspace nor on the global one. An administrator of the workspace can add it (PUT /workspace/{tenant_id}/audio-url-domains).",
  address_not_public: "The host of audio.url, or of a redirect, is not a name with public addresses only.",
  too_many_redirects: "audio.url redirects more often than max_audio_url_redirects in /v1/melimits allows.",
  missing_content_length: "The server behind audio.url does not declare the length of the audio (Content-Length).",
  unsupported_content_type:
    "The server behind audio.url does not declare a supported audio type. Set the object's Content-Type, for example to audio/mpeg or audio/wav; application/octet-stream, the default of object stores, is not accepted.",
};

const FAILURES: Readonly<Record<FetchFailure, string>> = {
  http_status: "The server behind audio.url did not answer 200.",
  connect: "The server behind audio.url could not be reached.",
  tls: "The server behind audio.url has no valid certificate for its name.",
  timeout: "The server behind audio.url took too long.",
  stalled: "The server behind audio.url stopped sending, or sends too slowly.",
  truncated: "The audio ended before its declared length.",
  content_encoding: "The server behind audio.url sends compressed audio (Content-Encoding), which is not supported.",
};

export function urlRejected(reason: UrlRejection, cause?: unknown): GatewayError {
  return new GatewayError("AUDIO_URL_REJECTED", {
    message: REJECTIONS[reason],
    param: "audio.url",
    details: { reason },
    cause,
  });
}

export function fetchFailed(reason: FetchFailure, status?: number): GatewayError {
  return new GatewayError("AUDIO_FETCH_FAILED", {
    message: FAILURES[reason],
    param: "audio.url",
    details: { reason, ...(status === undefined ? {} : { status }) },
    retryable: reason === "connect" || reason === "timeout" || (status !== undefined && status >= 500),
  });
}

const LENGTH_FAULTS = new Set(["HPE_CONTENT_LENGTH", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"]);

/** `headSeen`: the reply had begun when it broke. */
export function remoteError(error: unknown, headSeen: boolean): unknown {
  if (error instanceof GuardRefusal) return urlRejected(error.reason, error);
  if (error instanceof ConnectFailure) return fetchFailed(error.stage);
  if (!(error instanceof OutboundError)) return error;
  if (error.failure === "timeout") return fetchFailed("timeout");
  if (headSeen || error.reason === "HPE_MALFORMED") return fetchFailed("truncated");
  // The HTTP parser refuses a length that is signed, duplicated, too large, or combined with a chunked body.
  return LENGTH_FAULTS.has(error.reason ?? "") ? urlRejected("missing_content_length") : fetchFailed("connect");
}
