// Parses the headers of one multipart part (RFC 7578) strictly: everything ambiguous is refused [request-body.form-strict], except in a file name,
// which is only a hint [request-body.file-name].
import { LAST_SEMICOLON, parseContentType } from "../content-type.ts";
import { type Charset, charsetOf, unsupportedCharset } from "./field-charset.ts";
import { decodeExtendedValue, REPLACEMENT } from "./file-name.ts";

export interface PartHeaders {
  readonly name: string;
  /** Null for a plain field. Empty if no file was selected in the form. */
  readonly fileName: string | null;
  readonly mediaType: string | null;
  /** The charset that a plain field declares. */
  readonly charset: Charset | null;
}

export type ParsedPartHeaders =
  | { readonly ok: true; readonly headers: PartHeaders }
  | { readonly ok: false; readonly message: string; readonly param: string | null };

const MAX_HEADERS = 16;
const MAX_NAME_BYTES = 100;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/s;
const DISPOSITION_PARAMETER =
  /^;[ \t]*([!#$%&'+.^_`|~0-9A-Za-z-]+\*?)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/s;
/** A quoted file name in which backslashes are not escapes: in Shift_JIS, GBK and Big5 they are the second byte of a character. */
const UNESCAPED_FILE_NAME = /^;[ \t]*(filename\*?)[ \t]*=[ \t]*(?:"([^"]*)"|([^";]*))[ \t]*(?=;|$)/is;
const UNREADABLE_FILE_NAME = /^;[ \t]*(filename\*?)[ \t]*=/i;
const TRANSPARENT_ENCODINGS = new Set(["binary", "8bit", "7bit"]);

/** `block` contains the header lines without the blank line. */
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
  if (hasControlCharacter(name) || name.includes(REPLACEMENT))
    return refuse("A part's name contains a control character or is not valid UTF-8.");
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return refuse(`A part's name is longer than ${MAX_NAME_BYTES} bytes.`);
  const fileName = fileNameOf(parameters);
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!TRANSPARENT_ENCODINGS.has(encoding))
    return refuse("A part's Content-Transfer-Encoding must be binary, 8bit or 7bit: send its bytes as they are.", name);
  const mediaType = headers.get("content-type");
  if (mediaType !== undefined && /^(multipart|message)\//i.test(mediaType))
    return refuse("A part must not be a multipart or message itself.", name);
  const contentType = parseContentType(mediaType);
  const parametersOfType = contentType?.parameters ?? null;
  // A file's type follows from its content, so its media type is only a hint. A field's charset is known only from this header.
  if (fileName === null && mediaType !== undefined && parametersOfType === null)
    return refuse("A part's Content-Type is malformed.", name);
  const label = fileName === null ? parametersOfType?.get("charset") : undefined;
  const charset = label === undefined ? null : charsetOf(label);
  if (label !== undefined && charset === null) return refuse(unsupportedCharset(label), name);
  return { ok: true, headers: { name, fileName, mediaType: contentType?.type ?? null, charset } };
}

function refuse(message: string, param: string | null = null): ParsedPartHeaders {
  return { ok: false, message, param };
}

/** The headers by lower-case name, or an error message. */
function readHeaders(block: Buffer): Map<string, string> | string {
  const headers = new Map<string, string>();
  // Invalid UTF-8 becomes U+FFFD, which only a file name may contain.
  const lines = block.length === 0 ? [] : block.toString("utf8").split("\r\n");
  if (lines.length > MAX_HEADERS) return `A part has more than ${MAX_HEADERS} headers.`;
  for (const line of lines) {
    if (line.startsWith(" ") || line.startsWith("\t")) return "A part's header is folded over several lines.";
    const match = HEADER.exec(line);
    const name = match?.[1]?.toLowerCase();
    const value = match?.[2]?.trim() ?? "";
    if (name === undefined) return "A part's header has no name and colon.";
    if (/[\r\n\0]/.test(value) || (name !== "content-disposition" && hasControlCharacter(value)))
      return "A part's header contains a control character.";
    if (name !== "content-disposition" && value.includes(REPLACEMENT)) return "A part's header is not valid UTF-8.";
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
    const { length, name, text } = readParameter(rest);
    const isRepeated = parameters.has(name);
    if (length === 0 || name === "name*" || (isRepeated && !name.startsWith("filename"))) return null;
    if (!isRepeated) parameters.set(name, text);
    rest = rest.slice(length);
  }
  return parameters;
}

/** A length of 0 means malformed. An unreadable file name consumes the rest of the line and is dropped. */
function readParameter(rest: string): { readonly length: number; readonly name: string; readonly text: string } {
  const plain = DISPOSITION_PARAMETER.exec(rest);
  if (plain !== null && /^(;|$)/.test(rest.slice(plain[0].length))) {
    // Browsers percent-encode the quote, other clients escape it. A backslash before any other character is from a Windows path.
    const quoted = plain[2]?.replace(/\\(["\\])/g, "$1").replaceAll("%22", '"');
    return { length: plain[0].length, name: plain[1]?.toLowerCase() ?? "", text: quoted ?? plain[3] ?? "" };
  }
  const unescaped = UNESCAPED_FILE_NAME.exec(rest);
  if (unescaped !== null)
    return {
      length: unescaped[0].length,
      name: unescaped[1]?.toLowerCase() ?? "",
      text: unescaped[2] ?? unescaped[3] ?? "",
    };
  const name = UNREADABLE_FILE_NAME.exec(rest)?.[1]?.toLowerCase();
  return name === undefined ? { length: 0, name: "", text: "" } : { length: rest.length, name, text: REPLACEMENT };
}

/** `filename*` (RFC 8187) is not part of RFC 7578, but common clients send it for other alphabets. */
function fileNameOf(parameters: ReadonlyMap<string, string>): string | null {
  const extended = parameters.get("filename*");
  const plain = parameters.get("filename") ?? null;
  if (extended === undefined) return plain;
  return decodeExtendedValue(extended) ?? plain ?? REPLACEMENT;
}

function hasControlCharacter(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
