// Reads the type, encoding and length of a body from its head. Nothing is guessed: an unknown or malformed type is 415, and a form without a valid
// boundary is 400 [request-body.json-type] [request-body.form-type].
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { type Charset, charsetOf, unsupportedCharset } from "./form/field-charset.ts";

export type BodyType =
  | { readonly kind: "json" }
  | { readonly kind: "multipart"; readonly boundary: string; readonly charset: Charset | null };

const TYPE = /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?=;|$)/;
const PARAMETER =
  /^;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[\t\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*)"|([^\s;"]*))[ \t]*/;
/** Some clients send a final semicolon without a parameter. */
export const LAST_SEMICOLON = /;[ \t]*$/;
/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

const JSON_BODY: BodyType = { kind: "json" };

export function readBodyType(headers: IncomingHttpHeaders, accepted: { readonly multipart: boolean }): BodyType {
  // The header that nearly all clients send.
  if (headers["content-type"] === "application/json") return JSON_BODY;
  const acceptedTypes = accepted.multipart ? "application/json or multipart/form-data" : "application/json";
  const parsed = parseContentType(headers["content-type"]);
  if (parsed === null) throw unsupported(`The Content-Type is missing or malformed; send ${acceptedTypes}.`);
  const { type, parameters } = parsed;
  if (parameters === null) {
    if (type === "multipart/form-data" && accepted.multipart) throw unusableBoundary();
    throw unsupported(`The Content-Type has malformed parameters; send ${acceptedTypes}.`);
  }
  const label = parameters.get("charset");
  const charset = label === undefined ? null : charsetOf(label);
  const isForm = type === "multipart/form-data" && accepted.multipart;
  if (label !== undefined && (isForm ? charset === null : label.toLowerCase() !== "utf-8"))
    throw unsupported(isForm ? unsupportedCharset(label) : "The body's charset must be utf-8.");
  parameters.delete("charset");
  if (type === "application/json") {
    if (parameters.size > 0)
      throw unsupported("The Content-Type application/json allows only the parameter charset=utf-8.");
    return JSON_BODY;
  }
  if (!isForm) throw unsupported(`The Content-Type is not supported here; send ${acceptedTypes}.`);
  const boundary = parameters.get("boundary") ?? "";
  parameters.delete("boundary");
  if (!BOUNDARY.test(boundary)) throw unusableBoundary();
  if (parameters.size > 0)
    throw unsupported("The Content-Type multipart/form-data allows only the parameter boundary.");
  return { kind: "multipart", boundary, charset };
}

/** Request bodies are never decompressed, which rules out decompression bombs [request-body.no-compression]. */
export function refuseEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", {
    message: "Compressed request bodies are not supported; send the body without Content-Encoding.",
    param: "content-encoding",
  });
}

export interface ContentType {
  readonly type: string;
  /** Null: the parameters are malformed. */
  readonly parameters: Map<string, string> | null;
}

/** Null: there is no type, or a parameter is repeated. */
export function parseContentType(header: string | undefined): ContentType | null {
  const head = TYPE.exec(header ?? "");
  if (header === undefined || head?.[1] === undefined) return null;
  const type = head[1].toLowerCase();
  const parameters = new Map<string, string>();
  for (let rest = header.slice(head[0].length).replace(LAST_SEMICOLON, ""); rest !== ""; ) {
    const match = PARAMETER.exec(rest);
    const name = match?.[1]?.toLowerCase();
    if (match === null || name === undefined) return { type, parameters: null };
    if (parameters.has(name)) return null;
    parameters.set(name, match[2]?.replace(/\\(.)/g, "$1") ?? match[3] ?? "");
    rest = rest.slice(match[0].length);
  }
  return { type, parameters };
}

/** Null: the length is not announced (`Transfer-Encoding: chunked`). */
export function declaredLength(headers: IncomingHttpHeaders): number | null {
  const value = headers["content-length"];
  return value === undefined ? null : Number(value);
}

/** Capped at the limit, because a body that announces more is refused for its size and not for lack of capacity. */
export function expectedLength(headers: IncomingHttpHeaders, maxBytes: number): number {
  return Math.min(declaredLength(headers) ?? maxBytes, maxBytes);
}

function unusableBoundary(): GatewayError {
  const message =
    "The Content-Type multipart/form-data needs a boundary of 1 to 70 characters of RFC 2046; let the HTTP client set this header.";
  return invalidRequest("content-type", message);
}

function unsupported(message: string): GatewayError {
  return new GatewayError("UNSUPPORTED_MEDIA_TYPE", { message, param: "content-type" });
}
