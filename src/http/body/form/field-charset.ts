// Lists the character sets that text fields of a form may declare, and decodes them (RFC 7578, sections 4.4 to 4.6).
import { decodeUtf8 } from "../../../lib/text/utf8.ts";

export type Charset = "utf-8" | "us-ascii" | "iso-8859-1" | "windows-1252";

const LABELS: Record<Charset, readonly string[]> = {
  "utf-8": ["utf-8", "utf8", "unicode-1-1-utf-8"],
  "us-ascii": ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us"],
  "iso-8859-1": ["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"],
  "windows-1252": ["windows-1252", "cp1252", "cp-1252", "x-cp1252"],
};
const BY_LABEL = new Map(
  (Object.keys(LABELS) as Charset[]).flatMap((charset) => LABELS[charset].map((label) => [label, charset] as const)),
);
const WINDOWS_1252 = new TextDecoder("windows-1252");
const MAX_LABEL_CHARACTERS = 40;

/** Null: the charset is not supported. */
export function charsetOf(label: string): Charset | null {
  return BY_LABEL.get(label.trim().toLowerCase()) ?? null;
}

/** Null: the bytes are not valid in this charset. */
export function decodeText(bytes: Buffer, charset: Charset): string | null {
  switch (charset) {
    // Some clients label UTF-8 text as ASCII, and ASCII text is also valid UTF-8.
    case "us-ascii":
    case "utf-8":
      return decodeUtf8(bytes);
    // Not by TextDecoder, because the Encoding Standard maps this label to windows-1252, which differs from 0x80 to 0x9f.
    case "iso-8859-1":
      return bytes.toString("latin1");
    case "windows-1252":
      return WINDOWS_1252.decode(bytes);
  }
}

export function unsupportedCharset(label: string): string {
  const named = label.trim().slice(0, MAX_LABEL_CHARACTERS);
  return `The charset ${JSON.stringify(named)} of a form field is not supported; use ${Object.keys(LABELS).join(", ")}.`;
}
