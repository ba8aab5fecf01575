// Sanitizes the caller's file name, which is only a hint: never used as a path, harmless in logs and forms, and never a reason to refuse a request
// [request-body.file-name].
import { charsetOf, decodeText } from "./field-charset.ts";

/** U+FFFD, which replaces bytes that are not text. */
export const REPLACEMENT = "\ufffd";
export const MAX_FILE_NAME_BYTES = 255;
const MAX_EXTENSION_CHARACTERS = 16;

/** The last path segment without control, format and quote characters, shortened before its extension. Null: nothing useful remains. */
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

/** Decodes `filename*` (RFC 8187). A percent sign that starts no escape is kept. Null: the charset is unknown. */
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
