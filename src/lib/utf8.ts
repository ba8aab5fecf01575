// Bytes as the text they are, to the last of them: what no UTF-8 encodes is no text, and a byte order mark is a character of it.

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Null: not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
