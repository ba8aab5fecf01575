// Validates a request's head before its key and its body [errors.head-order] [api.head-limits].
import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../contract/errors.ts";
import { malformedKey } from "../../contract/idempotency-key.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { RefuseHost } from "./allowed-hosts.ts";
import type { EdgeLimits } from "./limits.ts";

/** Node uses the first of several, or joins them with commas. Either way two intermediaries could read different requests. */
const SINGLE = new Set(["host", "authorization", "content-type", "content-length", "expect", "transfer-encoding"]);
const KEY = "idempotency-key";
/** RFC 3986: a name or an address, and a port. Nothing else may precede the path (RFC 9112 section 3.2). */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]{0,5})?$/;
const SVC_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
/** Exactly what the router compares: no escapes, no empty or dot segments, so that a path has only one spelling. */
const PLAIN_PATH = /^(?:\/|\/docs\/|(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()*+,=:@-]+)+)$/;

type Head = Pick<IncomingMessage, "url" | "rawHeaders" | "httpVersionMajor" | "httpVersionMinor">;

export interface HeadRules {
  readonly limits: EdgeLimits;
  /** Refuses host names that this listener does not answer to. Null: any host name is allowed. */
  readonly refuseHost: RefuseHost | null;
  /** False where the key is ignored, or validated later. */
  readonly judgesIdempotencyKey: boolean;
}

/** The error for this head. Null: the head is valid. */
export function refuseHead(head: Head, rules: HeadRules): GatewayError | null {
  return (
    refuseTarget(head.url ?? "", rules.limits) ?? refuseSize(head.rawHeaders, rules.limits) ?? refuseFields(head, rules)
  );
}

/**
 * Whether intermediaries may see another end of this body than this server (RFC 9112, 6.1). The connection is then closed with the response, so
 * that no bytes of the body are read as a second request.
 */
export function hasAmbiguousFraming(
  head: Pick<IncomingMessage, "headers" | "httpVersionMajor" | "httpVersionMinor">,
): boolean {
  const encoding = head.headers["transfer-encoding"];
  return encoding !== undefined && (!isAtLeast11(head) || encoding.trim().toLowerCase() !== "chunked");
}

function isAtLeast11({
  httpVersionMajor,
  httpVersionMinor,
}: Pick<Head, "httpVersionMajor" | "httpVersionMinor">): boolean {
  return httpVersionMajor === 1 && httpVersionMinor >= 1;
}

/** The path without its query. Null: no endpoint's path can be spelt like this. */
export function canonicalPath(target: string): string | null {
  const end = target.indexOf("?");
  const path = end === -1 ? target : target.slice(0, end);
  return PLAIN_PATH.test(path) ? path : null;
}

function refuseTarget(target: string, limits: EdgeLimits): GatewayError | null {
  if (Buffer.byteLength(target) > limits.maxTargetBytes) {
    return new GatewayError("URI_TOO_LONG", {
      message: `The request target is longer than ${limits.maxTargetBytes} bytes.`,
      details: { max_target_bytes: limits.maxTargetBytes },
    });
  }
  if (!target.startsWith("/")) return invalidRequest(null, "The request target must be a path that begins with /.");
  return null;
}

function refuseSize(rawHeaders: readonly string[], limits: EdgeLimits): GatewayError | null {
  let sizeBytes = 0;
  // On the wire each pair has ": " and CR LF in addition to its two texts.
  for (const text of rawHeaders) sizeBytes += text.length + 2;
  if (sizeBytes <= limits.maxHeaderBytes && rawHeaders.length <= 2 * limits.maxHeaderFields) return null;
  return headersTooLarge(limits);
}

export function headersTooLarge(limits: EdgeLimits): GatewayError {
  return new GatewayError("HEADERS_TOO_LARGE", {
    message: `The headers exceed ${limits.maxHeaderBytes} bytes or ${limits.maxHeaderFields} fields.`,
    details: { max_header_bytes: limits.maxHeaderBytes, max_header_fields: limits.maxHeaderFields },
  });
}

function refuseFields(head: Head, { judgesIdempotencyKey, refuseHost }: HeadRules): GatewayError | null {
  // The parser also accepts lines with HTTP/0.9 (no version at all) or HTTP/2.0.
  if (head.httpVersionMajor === 0 || head.httpVersionMajor > 1)
    return invalidRequest(null, "Send HTTP/1.1 or HTTP/1.0.");
  const seenNames = new Set<string>();
  for (let index = 0; index + 1 < head.rawHeaders.length; index += 2) {
    const name = (head.rawHeaders[index] ?? "").toLowerCase();
    const value = head.rawHeaders[index + 1] ?? "";
    const isSvcHeader = name.startsWith("x-svc-");
    const isRepeated = seenNames.has(name);
    if (isRepeated && (isSvcHeader || SINGLE.has(name))) return sentTwice(name);
    seenNames.add(name);
    const refusal =
      name === KEY ? refuseKey(value, judgesIdempotencyKey, isRepeated) : refuseValue(name, value, isSvcHeader);
    if (refusal !== null) return refusal;
    const refusedHost = name === "host" ? (refuseHost?.(value) ?? null) : null;
    if (refusedHost !== null) return refusedHost;
  }
  if (!seenNames.has("host") && isAtLeast11(head)) return invalidRequest("host", "The Host header is missing.");
  if (seenNames.has("transfer-encoding") && !isAtLeast11(head))
    return invalidRequest("transfer-encoding", "HTTP/1.0 has no transfer encodings: send Content-Length, or HTTP/1.1.");
  return null;
}

/** Where the key counts, a repeated one is refused: Node would join both with a comma and a space. */
function refuseKey(value: string, judgesIdempotencyKey: boolean, isRepeated: boolean): GatewayError | null {
  if (!judgesIdempotencyKey) return null;
  return isRepeated ? sentTwice(KEY) : malformedKey(value);
}

function sentTwice(name: string): GatewayError {
  return invalidRequest(name, "This header may be sent only once.");
}

function refuseValue(name: string, value: string, isSvcHeader: boolean): GatewayError | null {
  if (name === "host" && !HOST.test(value)) return invalidRequest(name, "The Host header is not a host with a port.");
  if (isSvcHeader && !SVC_VALUE.test(value)) {
    return invalidRequest(name, "An X-SVC header must be 1 to 200 visible ASCII characters.");
  }
  if (name === "expect" && value.trim().toLowerCase() !== "100-continue") {
    return new GatewayError("EXPECTATION_FAILED", {
      message: "Only Expect: 100-continue is supported.",
      param: "expect",
    });
  }
  // Node accepts "gzip, chunked" and returns the bytes still compressed.
  if (name === "transfer-encoding" && value.trim().toLowerCase() !== "chunked") {
    return invalidRequest(name, "The only supported transfer encoding is chunked.");
  }
  return null;
}
