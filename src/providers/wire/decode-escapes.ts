// Decodes the escapes of JSON, URLs and HTML in a text, also nested ones, so that they cannot hide what it contains. Pure.

/** JSON in JSON in HTML. */
const MAX_ROUNDS = 4;

export function decodeEscapes(text: string): string {
  let decoded = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = decodeOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

function decodeOnce(text: string): string {
  return text
    .replace(/\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2}))/giu, (_, ...codes: string[]) =>
      characterOf(codes),
    )
    .replace(/\\(["'/\\])/gu, "$1")
    .replace(/\\(?:[bf]|[nrt])/gu, " ")
    .replace(/(?:%[0-9a-f]{2})+/giu, decodedUrl)
    .replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/giu, (whole: string, hex?: string, decimal?: string) =>
      character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16), whole),
    )
    .replace(/&(quot|apos|amp|lt|gt|nbsp);/gu, (_, name: string) => ENTITIES[name] ?? " ");
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", amp: "&", lt: "<", gt: ">", nbsp: " " };

function characterOf([braced, four, two]: readonly (string | undefined)[]): string {
  return character(Number.parseInt(braced ?? four ?? two ?? "20", 16), " ");
}

function character(code: number, otherwise: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;
}

function decodedUrl(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
