// Validates the head of a server's reply to a fetch of `audio.url`: status, type, length and encoding [remote-audio.status-200]. Pure.
import { GatewayError } from "../contract/errors.ts";
import { isEncoded } from "../lib/is-encoded.ts";
import type { OutboundStream } from "../outbound/dial.ts";
import { fetchFailed, urlRejected } from "./remote-errors.ts";

const MEDIA_TYPES = new Set([
  "audio/mpeg",
  "audio/mp3",
  "audio/mpga",
  "audio/mp4",
  "audio/m4a",
  "audio/x-m4a",
  "audio/wav",
  "audio/x-wav",
  "audio/wave",
  "audio/vnd.wave",
  "audio/webm",
  "video/mp4",
  "video/mpeg",
  "video/webm",
]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export type RemoteHead =
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "audio"; readonly sizeBytes: number; readonly mediaType: string };

export function judgeHead({ status, headers }: Omit<OutboundStream, "body">, maxBytes: number): RemoteHead {
  // An empty one would lead back to the same address.
  const { location = "" } = headers;
  if (REDIRECTS.has(status) && location !== "") return { kind: "redirect", location };
  if (status !== 200) throw fetchFailed("http_status", status);
  if (isEncoded(headers)) throw fetchFailed("content_encoding");
  const mediaType = mediaTypeOf(headers["content-type"]);
  if (mediaType === null) throw urlRejected("unsupported_content_type");
  const length = headers["content-length"] ?? "";
  if (!/^[0-9]{1,15}$/.test(length) || headers["transfer-encoding"] !== undefined)
    throw urlRejected("missing_content_length");
  const sizeBytes = Number(length);
  if (sizeBytes > maxBytes) throw tooLarge(sizeBytes, maxBytes);
  if (sizeBytes === 0) throw new GatewayError("INVALID_AUDIO", { message: "The audio is empty.", param: "audio.url" });
  return { kind: "audio", sizeBytes, mediaType };
}

/** Parameters are ignored. Two headers, which arrive joined by a comma, are both ignored. */
function mediaTypeOf(header: string | undefined): string | null {
  if (header === undefined || header.includes(",")) return null;
  const [type = ""] = header.split(";");
  const mediaType = type.trim().toLowerCase();
  return MEDIA_TYPES.has(mediaType) ? mediaType : null;
}

function tooLarge(sizeBytes: number, maxBytes: number): GatewayError {
  return new GatewayError("AUDIO_TOO_LARGE", {
    message: `The audio behind audio.url is ${sizeBytes} bytes; at most ${maxBytes} are allowed.`,
    param: "audio.url",
    details: { max_audio_url_bytes: maxBytes, received_bytes: sizeBytes },
  });
}

/**
 * The target of a redirect as text, which the guard judges from the start: the header's own text, appended to the previous host if it names none. Resolving it
 * first would repair what the guard must refuse.
 */
export function redirectTarget(location: string, from: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location;
  if (location.startsWith("//")) return `https:${location}`;
  const base = new URL(from);
  if (location.startsWith("/")) return `${base.origin}${location}`;
  return /^[!-~]*$/.test(location) && !location.includes("\\") ? new URL(location, base).href : location;
}
