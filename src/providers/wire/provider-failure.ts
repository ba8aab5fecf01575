// A provider's own description of a failure: status, code, request id and message. Shown to administrators and the operator in the request's record, as
// `recordable-failure.ts` makes it, but never in an error for callers or in the log.
import { decodeEscapes } from "./decode-escapes.ts";
import type { WireReply } from "./wire-reply.ts";
import { plainId } from "./plain-id.ts";

export interface ProviderFailure {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  /** Secrets removed. May still quote the request. */
  readonly message: string | null;
  /** Texts of an answer in the same body, which the message must not quote. */
  readonly answerTexts: readonly string[];
}

export const MAX_MESSAGE_CHARACTERS = 500;
/** A body that is not JSON is read up to this length. */
const MAX_READ_CHARACTERS = 20_000;
const MAX_CODE_CHARACTERS = 64;
const REDACTED = "[redacted]";
const REQUEST_ID_HEADERS = [
  "x-request-id",
  "request-id",
  "dg-request-id",
  "x-goog-request-id",
  "apim-request-id",
  "x-ms-request-id",
  "x-correlation-id",
  "x-trace-id",
  "cf-ray",
];
/** Anthropic, Deepgram and ElevenLabs report it in the body, too. */
const REQUEST_ID_PATHS = [["request_id"], ["error", "request_id"], ["detail", "request_id"]];

/** Names, prefixes and shapes that identify a secret, whatever its origin. */
const SECRETS: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[\w\-.~+/=*]{6,}/giu,
  /\b(?:Token|Key)\s+(?=\S*\d)[\w\-.~+/=*]{6,}/giu,
  /\b(?:sk|pk|rk|xi|gsk|whsec|svc)[-_][\w\-*.]{4,}/giu,
  /\bAIza[\w-]{10,}/gu,
  /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/gu,
  /\b(?:api[-_ ]?key|access[-_ ]?key|token|secret|password|authorization|credential)s?["']?(?:\s*[:=]\s*|\s+(?:provided:?|is)\s+(?=\S*[\d*]))["']?[\w\-.~+/=*]{4,}/giu,
  // A card, account or telephone number.
  /\b\d(?:[ -]?\d){11,}\b/gu,
  // A long run of letters and digits is a key, a signature or a foreign id.
  /(?=[\w+/=-]{0,200}\d)(?=[\w+/=-]{0,200}[A-Za-z])[\w+/=-]{28,}/gu,
];
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
/** User info and query of a URL. */
const ADDRESS = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)(?:[^\s/@"']*@)?([^\s?#"']*)(?:[?#][^\s"']*)?/giu;

/** `body` is the parsed JSON, undefined if it is not JSON. */
export function providerFailure(
  { status, headers, text }: Pick<WireReply, "status" | "headers" | "text">,
  body: unknown,
  credential: string | null,
): ProviderFailure {
  const ids = [...REQUEST_ID_HEADERS.map((name) => headers[name]), ...REQUEST_ID_PATHS.map((path) => at(body, path))];
  const requestId = ids.map((id) => plainId(isText(id) ? id : null)).find((id) => id !== null) ?? null;
  const answerTexts = answerTextsIn(body);
  const written = answerTexts === null ? null : bareText(body === undefined ? text : (messageIn(body) ?? ""));
  return {
    status,
    code: codeIn(body, credential),
    requestId: requestId === null || holds(requestId, credential) ? null : requestId,
    message: written === null ? null : withoutSecrets(written, credential),
    answerTexts: answerTexts ?? [],
  };
}

/** Of a WebSocket session that the provider closed: the upgrade was answered with 101. */
export function closeFailure(
  { code, reason }: { readonly code: number; readonly reason: string },
  headers: WireReply["headers"],
  credential: string | null,
): ProviderFailure {
  const failure = providerFailure({ status: 101, headers, text: reason }, undefined, credential);
  return { ...failure, code: `close_${code}` };
}

/** Truncated after the removal, because half a secret is still one. */
export function cleanMessage(text: string, credential: string | null): string | null {
  const clean = withoutSecrets(text, credential);
  return clean === null ? null : cutMessage(clean);
}

function withoutSecrets(text: string, credential: string | null): string | null {
  const spellings = spellingsOf(credential);
  let clean = text.slice(0, MAX_READ_CHARACTERS);
  for (const spelling of spellings) clean = clean.replaceAll(spelling, REDACTED);
  // A secret can be spelled in escapes.
  clean = decodeEscapes(clean);
  for (const spelling of spellings) clean = clean.replaceAll(spelling, REDACTED);
  clean = clean.replace(ADDRESS, "$1$2").replace(EMAIL, REDACTED);
  for (const secret of SECRETS) clean = clean.replace(secret, REDACTED);
  clean = clean
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
  return clean === "" ? null : clean;
}

export function cutMessage(message: string): string {
  const characters = Array.from(message);
  if (characters.length <= MAX_MESSAGE_CHARACTERS) return message;
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

/** Fields that hold a transcript or an answer in the protocols of the adapters. */
const ANSWER_FIELDS: ReadonlySet<string> = new Set(["text", "transcript", "content", "words", "delta", "arguments"]);
const MAX_VALUES = 5_000;
const MAX_DEPTH = 20;

/** A body with an error can hold a part of an answer, too. Null: more than can be compared. */
function answerTextsIn(body: unknown): readonly string[] | null {
  const texts: string[] = [];
  let left = MAX_VALUES;
  const collect = (value: unknown, isAnswer: boolean, depth: number): void => {
    left -= depth > MAX_DEPTH ? MAX_VALUES : 1;
    if (left < 0) return;
    if (typeof value === "string" && isAnswer) texts.push(value);
    if (typeof value !== "object" || value === null) return;
    for (const name in value) {
      if (left < 0) return;
      const inner = (value as Readonly<Record<string, unknown>>)[name];
      collect(inner, isAnswer || (!Array.isArray(value) && ANSWER_FIELDS.has(name)), depth + 1);
    }
  };
  collect(body, false, 0);
  return left < 0 ? null : texts;
}

const MESSAGE_PATHS: readonly (readonly string[])[] = [
  // OAuth, whose `error` is the code.
  ["error_description"],
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
  ["error"],
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
