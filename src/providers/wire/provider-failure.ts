// A provider's own description of a failure: status, code, request id and message. Stored in the request's record and shown to administrators and the operator,
// but never in an error for callers or in the log.
import type { WireReply } from "./wire-reply.ts";
import { plainId } from "./plain-id.ts";

export interface ProviderFailure {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  /** Secrets removed, at most `MAX_MESSAGE_CHARACTERS`. */
  readonly message: string | null;
}

export const MAX_MESSAGE_CHARACTERS = 500;
/** A body that is not JSON is read up to this length. */
const MAX_READ_CHARACTERS = 20_000;
const MAX_CODE_CHARACTERS = 64;
const REDACTED = "[redacted]";
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "dg-request-id", "x-goog-request-id", "cf-ray"];

/** Names, prefixes and shapes that identify a secret, whatever its origin. */
const SECRETS: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[\w\-.~+/=*]{6,}/giu,
  /\b(?:Token|Key)\s+(?=\S*\d)[\w\-.~+/=*]{6,}/giu,
  /\b(?:sk|pk|rk|xi|gsk|whsec|svc)[-_][\w\-*.]{4,}/giu,
  /\bAIza[\w-]{10,}/gu,
  /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/gu,
  /\b(?:api[-_ ]?key|access[-_ ]?key|token|secret|password|authorization|credential)s?["']?(?:\s*[:=]\s*|\s+(?:provided:?|is)\s+(?=\S*[\d*]))["']?[\w\-.~+/=*]{4,}/giu,
  // A long run of letters and digits is a key, a signature or a foreign id.
  /(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{28,}/gu,
];
/** User info and query of a URL. */
const ADDRESS = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@"']*@)?([^\s?#"']*)(?:[?#][^\s"']*)?/giu;

/** `body` is the parsed JSON, undefined if it is not JSON. */
export function providerFailure(
  { status, headers, text }: Pick<WireReply, "status" | "headers" | "text">,
  body: unknown,
  credential: string | null,
): ProviderFailure {
  const requestId = REQUEST_ID_HEADERS.map((name) => plainId(headers[name])).find((id) => id !== null) ?? null;
  const written = body === undefined ? bareText(text) : messageIn(body);
  return {
    status,
    code: codeIn(body, credential),
    requestId: requestId === null || holds(requestId, credential) ? null : requestId,
    message: written === null ? null : cleanMessage(written, credential),
  };
}

/** Truncated after the removal, because half a secret is still one. */
export function cleanMessage(text: string, credential: string | null): string | null {
  let clean = text.slice(0, MAX_READ_CHARACTERS);
  for (const spelling of spellingsOf(credential)) clean = clean.replaceAll(spelling, REDACTED);
  clean = clean.replace(ADDRESS, "$1$2");
  for (const secret of SECRETS) clean = clean.replace(secret, REDACTED);
  clean = clean
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= MAX_MESSAGE_CHARACTERS) return clean === "" ? null : clean;
  return `${characters.slice(0, MAX_MESSAGE_CHARACTERS - 1).join("")}…`;
}

function spellingsOf(credential: string | null): readonly string[] {
  if (credential === null || credential.length < 4) return [];
  const base64 = Buffer.from(credential).toString("base64").replace(/=+$/u, "");
  return [credential, encodeURIComponent(credential), JSON.stringify(credential).slice(1, -1), base64];
}

function holds(text: string, credential: string | null): boolean {
  return spellingsOf(credential).some((spelling) => text.includes(spelling));
}

/** An HTML page contains no more than its status. */
function bareText(text: string): string | null {
  return /^\s*(?:$|<)/u.test(text) ? null : text;
}

const MESSAGE_PATHS: readonly (readonly string[])[] = [
  ["error", "message"],
  ["error"],
  ["err_msg"],
  ["message"],
  ["detail", "message"],
  ["detail", "0", "msg"],
  ["detail"],
  ["reason"],
  ["title"],
];

const CODE_PATHS: readonly (readonly string[])[] = [
  ["error", "code"],
  ["error", "status"],
  ["error", "type"],
  ["detail", "status"],
  ["detail", "code"],
  ["detail", "type"],
  ["detail", "0", "type"],
  ["err_code"],
  ["error_code"],
  ["category"],
  ["code"],
  ["type"],
];

function messageIn(body: unknown): string | null {
  return MESSAGE_PATHS.map((path) => at(body, path)).find(isText) ?? null;
}

/** Google's `error.code` is the numeric status. Its code is in another field. */
function codeIn(body: unknown, credential: string | null): string | null {
  const code = CODE_PATHS.map((path) => at(body, path)).find((code) => isText(code) && isCode(code, credential));
  if (isText(code)) return code;
  const numeric = CODE_PATHS.map((path) => at(body, path)).find((code) => typeof code === "number");
  return Number.isSafeInteger(numeric) ? String(Number(numeric)) : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isCode(code: string, credential: string | null): boolean {
  const isShort = code.length <= MAX_CODE_CHARACTERS && /^[\w.:/-]+$/u.test(code);
  return isShort && !holds(code, credential) && cleanMessage(code, credential) === code;
}

function at(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[name];
  }
  return current;
}
