// Decodes UTF-8 strictly: invalid bytes are refused, and a byte order mark is kept as a character.

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Null: not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}
