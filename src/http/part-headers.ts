// The headers of one multipart part (RFC 7578): exactly what a form needs, everything doubtful refused
// (bad-input cases 126-148).
import { utf8Text } from "../lib/utf8.ts";
import { LAST_SEMICOLON, parseContentType } from "./content-type.ts";

export interface PartHeaders {
  readonly name: string;
  /** Null for a plain field; empty when a form had no file chosen. */
  readonly fileName: string | null;
  readonly mediaType: string | null;
}

export type ParsedPartHeaders =
  | { readonly ok: true; readonly headers: PartHeaders }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

const MAX_HEADERS = 16;
const MAX_NAME_BYTES = 100;
const MAX_FILE_NAME_BYTES = 255;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s;
const DISPOSITION_PARAMETER =
  /^;[ \t]*([!#$%&'+.^_`|~0-9A-Za-z-]+\*?)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/s;
const TRANSPARENT_ENCODINGS = new Set(["binary", "8bit", "7bit"]);

/** `block`: the header lines without the blank line. */
export function parsePartHeaders(block: Buffer): ParsedPartHeaders {
  const headers = readHeaders(block);
  if (typeof headers === "string") return refuse(headers);
  const disposition = headers.get("content-disposition");
  if (disposition === undefined) return refuse("A part has no Content-Disposition header.");
  const parameters = readDisposition(disposition);
  const name = parameters?.get("name");
  if (parameters === null || name === undefined || name === "") {
    return refuse('A part\'s Content-Disposition must be form-data with a name, such as form-data; name="file".');
  }
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return refuse(`A part's name is longer than ${MAX_NAME_BYTES} bytes.`);
  const fileName = readFileName(parameters);
  if (fileName === undefined) return refuse("The file name is malformed.", name);
  if (fileName !== null && Buffer.byteLength(fileName) > MAX_FILE_NAME_BYTES) {
    return refuse(`The file name is longer than ${MAX_FILE_NAME_BYTES} bytes.`, name);
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!TRANSPARENT_ENCODINGS.has(encoding)) return refuse("A part must not have a Content-Transfer-Encoding.", name);
  const mediaType = headers.get("content-type");
  if (mediaType !== undefined && /^(multipart|message)\//i.test(mediaType))
    return refuse("A part must not be a multipart or message itself.", name);
  const declared = parseContentType(mediaType);
  const parametersOfType = declared?.parameters ?? null;
  // What a file is its content says, and its media type is a hint; how a field is to be read nothing else says.
  if (fileName === null && mediaType !== undefined && parametersOfType === null)
    return refuse("A part's Content-Type is malformed.", name);
  const charset = parametersOfType?.get("charset")?.toLowerCase();
  if (fileName === null && charset !== undefined && charset !== "utf-8" && charset !== "us-ascii") {
    return refuse("A field's charset must be utf-8.", name);
  }
  return { ok: true, headers: { name, fileName, mediaType: declared?.type ?? null } };
}

function refuse(message: string, param: string | null = null): ParsedPartHeaders {
  return { ok: false, message, param };
}

/** The headers by lower-case name, or what is wrong with them. */
function readHeaders(block: Buffer): Map<string, string> | string {
  const headers = new Map<string, string>();
  const lines = block.length === 0 ? [] : (utf8Text(block)?.split("\r\n") ?? null);
  if (lines === null) return "A part's headers are not valid UTF-8.";
  if (lines.length > MAX_HEADERS) return `A part has more than ${MAX_HEADERS} headers.`;
  for (const line of lines) {
    if (line.startsWith(" ") || line.startsWith("\t")) return "A part's header is folded over several lines.";
    const match = HEADER.exec(line);
    const name = match?.[1]?.toLowerCase();
    const value = match?.[2]?.trim() ?? "";
    if (name === undefined) return "A part's header has no name and colon.";
    if (hasControlCharacter(value)) return "A part's header holds a control character.";
    if (headers.has(name)) return `A part has the header ${name} twice.`;
    headers.set(name, value);
  }
  return headers;
}

function readDisposition(value: string): Map<string, string> | null {
  const kind = /^form-data[ \t]*/i.exec(value);
  if (kind === null) return null;
  const parameters = new Map<string, string>();
  for (let rest = value.slice(kind[0].length).replace(LAST_SEMICOLON, ""); rest !== ""; ) {
    const match = DISPOSITION_PARAMETER.exec(rest);
    const name = match?.[1]?.toLowerCase();
    if (match === null || name === undefined || parameters.has(name) || name === "name*") return null;
    // Browsers percent-encode the quote; others escape it. A backslash before anything else is a Windows path.
    parameters.set(name, match[2]?.replace(/\\(["\\])/g, "$1").replaceAll("%22", '"') ?? match[3] ?? "");
    rest = rest.slice(match[0].length);
  }
  return parameters;
}

/** Undefined: malformed. `filename*` (RFC 8187) is not part of RFC 7578, but common clients send it for other alphabets. */
function readFileName(parameters: ReadonlyMap<string, string>): string | null | undefined {
  const extended = parameters.get("filename*");
  if (extended === undefined) return parameters.get("filename") ?? null;
  const encoded = /^utf-8'[A-Za-z0-9-]*'(.*)$/i.exec(extended)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function hasControlCharacter(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
