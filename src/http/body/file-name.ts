// The caller's file name as a hint: never a path, never able to disturb a log or a form, and never a reason to refuse a request
// [request-body.file-name].
import { charsetOf, decodeText } from "./field-charset.ts";

/** U+FFFD, in the place of bytes that are no text. */
export const REPLACEMENT = "\ufffd";
export const MAX_FILE_NAME_BYTES = 255;
const MAX_EXTENSION_CHARACTERS = 16;

/** The last path segment without control, format and quote characters, cut in front of its extension; null when nothing useful remains. */
export function safeFileName(name: string | null): string | null {
  const last = name?.split(/[/\\]/).at(-1) ?? "";
  const safe = cutName(last.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}"\ufffd]/gu, "").trim());
  return safe === "" || safe === "." || safe === ".." ? null : safe;
}

function cutName(name: string): string {
  if (Buffer.byteLength(name) <= MAX_FILE_NAME_BYTES) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= MAX_EXTENSION_CHARACTERS ? name.slice(dot) : "";
  let bytes = Buffer.byteLength(extension);
  let stem = "";
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_FILE_NAME_BYTES) break;
    stem += character;
  }
  return stem + extension;
}

/** The value of `filename*` (RFC 8187), with a per cent sign that begins no escape left as it is. Null: no charset that is known. */
export function decodeExtendedValue(value: string): string | null {
  const [, label = "", encoded = ""] = /^([^']*)'[^']*'(.*)$/s.exec(value) ?? [];
  const charset = charsetOf(label);
  if (charset === null) return null;
  const bytes = Buffer.from(
    encoded
      .replace(/%(?![0-9A-Fa-f]{2})|[\u0080-\u{10ffff}]/gu, encodeURIComponent)
      .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  return decodeText(bytes, charset) ?? bytes.toString("utf8");
}
