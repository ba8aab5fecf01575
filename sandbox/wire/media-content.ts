// Detects by the first bytes whether an image or audio part of a chat message has that type.
const IMAGES: readonly (readonly [string, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/u],
  ["image/jpeg", /^\xff\xd8\xff/u],
  ["image/gif", /^GIF8[79]a/u],
  ["image/webp", /^RIFF[^]{4}WEBP/u],
  ["image/heic", /^[^]{4}ftyp(?:heic|heix|mif1)/u],
];
const AUDIOS: readonly (readonly [string, RegExp])[] = [
  ["wav", /^RIFF[^]{4}WAVE/u],
  ["mp3", /^(?:ID3|\xff[\xe2-\xfb])/u],
];

/** Null: not a known image type, or not base64. */
export const imageTypeOf = (base64: string): string | null => typeOf(base64, IMAGES);
export const audioFormatOf = (base64: string): string | null => typeOf(base64, AUDIOS);

function typeOf(base64: string, signatures: readonly (readonly [string, RegExp])[]): string | null {
  if (base64 === "" || !/^[A-Za-z0-9+/]*={0,2}$/u.test(base64)) return null;
  const head = Buffer.from(base64.slice(0, 64), "base64").toString("latin1");
  return signatures.find(([, mark]) => mark.test(head))?.[0] ?? null;
}
