// The character sets that a form's text fields may declare, and decoding by them (RFC 7578, sections 4.4 to 4.6).
import { decodeUtf8 } from "../../lib/text/utf8.ts";

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

/** Null: a charset that is not decoded here. */
export function charsetOf(label: string): Charset | null {
  return BY_LABEL.get(label.trim().toLowerCase()) ?? null;
}

/** Null: the bytes are no text of this charset. */
export function decodeText(bytes: Buffer, charset: Charset): string | null {
  switch (charset) {
    // Clients that label text as ASCII and send UTF-8 exist, and every ASCII text is the same UTF-8 text.
    case "us-ascii":
    case "utf-8":
      return decodeUtf8(bytes);
    // Not by TextDecoder: the Encoding Standard reads this label as windows-1252, which differs from 0x80 to 0x9f.
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
