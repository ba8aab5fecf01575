// Detects the format of an upload only by its content [measuring.content-decides]. Pure.
import type { AudioFormat } from "../contract/transcription/audio-formats.ts";
import { isUnusableHeader, parseFrameHeader, threeFramesAt } from "./readers/mpeg-frame.ts";

export const SNIFF_BYTES = 65_536;

export function sniffAudio(head: Uint8Array): AudioFormat | null {
  const bytes = head.length > SNIFF_BYTES ? head.subarray(0, SNIFF_BYTES) : head;
  const start = ascii(bytes, 0, 4);
  // RF64 and RIFX are documented as unsupported rather than misread. RIFF is also the container of AVI and WebP.
  if (start === "RIFF") return ascii(bytes, 8, 12) === "WAVE" ? "wav" : null;
  if (ascii(bytes, 4, 8) === "ftyp") return sniffBrand(ascii(bytes, 8, 12));
  if (startsWith(bytes, 0x1a, 0x45, 0xdf, 0xa3)) return sniffDocType(bytes);
  if (startsWith(bytes, 0, 0, 1, 0xba)) return "mpeg";
  return sniffMpegAudio(bytes);
}

const IMAGE_OR_QUICKTIME = new Set([
  "qt  ",
  "heic",
  "heix",
  "hevc",
  "hevx",
  "heim",
  "heis",
  "mif1",
  "msf1",
  "avif",
  "avis",
  "crx ",
  "jp2 ",
  "jpx ",
]);
const AUDIO_BRANDS = new Set(["M4A ", "M4B ", "M4P "]);

function sniffBrand(brand: string): AudioFormat | null {
  if (AUDIO_BRANDS.has(brand)) return "m4a";
  return IMAGE_OR_QUICKTIME.has(brand) ? null : "mp4";
}

const DOC_TYPES: ReadonlySet<string> = new Set(["webm", "matroska"]);

/**
 * A readable DocType decides. Among Matroska files, browsers' recordings are identified by their tracks. A header too broken to have a DocType is left to the
 * reader, which refuses it as invalid.
 */
function sniffDocType(bytes: Uint8Array): AudioFormat | null {
  const header = vint(bytes, 4);
  if (!header) return "webm";
  const end = Math.min(bytes.length, header.next + header.value);
  for (let position = header.next; position < end; ) {
    const idLength = Math.clz32(bytes[position] ?? 0) - 23;
    if (idLength > 4) return "webm";
    const size = vint(bytes, position + idLength);
    if (!size) return "webm";
    if (bytes[position] === 0x42 && bytes[position + 1] === 0x82) {
      const docType = ascii(bytes, size.next, Math.min(end, size.next + Math.min(size.value, 64)));
      return DOC_TYPES.has(docType.replace(/\0+$/, "")) ? "webm" : null;
    }
    position = size.next + size.value;
  }
  return null;
}

function vint(bytes: Uint8Array, offset: number): { value: number; next: number } | null {
  const first = bytes[offset] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || offset + length > bytes.length) return null;
  let value = first & (0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + (bytes[offset + index] ?? 0);
  return { value, next: offset + length };
}

/** A stream cut out of a broadcast starts inside a frame, at most 2,881 bytes before the next one. Leading zeros do not count. */
const JUNK_BYTES = 4096;

function sniffMpegAudio(bytes: Uint8Array): AudioFormat | null {
  if (isForeign(bytes)) return null;
  const start = skipTags(bytes);
  // A tag without anything readable after it in these first bytes (artwork, padding): the reader decides.
  if (start > 0)
    return isForeign(bytes.subarray(start)) || TEXT_START.test(ascii(bytes, start, start + 16)) ? null : "mp3";
  const word = (offset: number): number | null => (offset + 4 <= bytes.length ? wordAt(bytes, offset) : null);
  const junkEnd = bytes.findIndex((byte) => byte !== 0) + JUNK_BYTES;
  for (let offset = bytes.indexOf(0xff); offset >= 0 && offset < junkEnd; offset = bytes.indexOf(0xff, offset + 1)) {
    if (threeFramesAt(word, offset)) return "mp3";
  }
  return isTooShortStream(word) || isUnusableStream(bytes) ? "mp3" : null;
}

/** 0 without a tag, otherwise the end of the first tag, perhaps past these bytes. Even a broken tag means MPEG audio. */
function skipTags(bytes: Uint8Array): number {
  if (ascii(bytes, 0, 8) === "APETAGEX") return 32;
  if (ascii(bytes, 0, 3) !== "ID3" || bytes.length < 10 || (bytes[3] ?? 0xff) === 0xff) return 0;
  return (
    10 +
    (((bytes[6] ?? 0) & 127) << 21) +
    (((bytes[7] ?? 0) & 127) << 14) +
    (((bytes[8] ?? 0) & 127) << 7) +
    ((bytes[9] ?? 0) & 127)
  );
}

// Containers and texts that may contain whole MPEG frames near their start (a stored .zip entry, a .tar, an .avi), and formats with which taggers use ID3
// (FLAC, ADTS AAC): never searched for frames.
const FOREIGN_STARTS = [
  "PK\x03,PK\x05,7z\xbc,Rar!,\x1f\x8b\x08,BZh,\xfd7zX,\x28\xb5\x2f\xfd,\x7fELF,%PDF,\x89PNG,\xff\xd8\xff,GIF8",
  "OggS,fLaC,RIFF,RIFX,RF64,FORM,.snd,caff,#!AMR,MPCK,MP+,wvpk,TTA1,MAC ,FLV,\x30\x26\xb2\x75,\0\0\x01\xb3",
].flatMap((starts) => starts.split(","));
/** Checked only after a tag: a text cannot contain three frames, but a stream may begin with any character. */
const TEXT_START = /^\s*(<[!?a-z]|[{[]\s*["{]|#EXTM3U|ffconcat)/i;
const FOREIGN_BOXES = new Set(["moov", "mdat", "wide", "free", "skip", "styp", "moof", "pnot", "jP  "]);

function isForeign(bytes: Uint8Array): boolean {
  const start = ascii(bytes, 0, 8);
  if (FOREIGN_STARTS.some((foreign) => start.startsWith(foreign)) || FOREIGN_BOXES.has(start.slice(4))) return true;
  const isTransportStream = bytes[0] === 0x47 && bytes[188] === 0x47 && bytes[376] === 0x47;
  return isAdts(bytes) || isTransportStream || ascii(bytes, 257, 262) === "ustar";
}

/** Two consecutive AAC frames, because their sync word alone also occurs inside MPEG audio. */
function isAdts(bytes: Uint8Array): boolean {
  const isSync = (at: number): boolean => bytes[at] === 0xff && ((bytes[at + 1] ?? 0) & 0xf6) === 0xf0;
  const length = (wordAt(bytes, 3) >>> 13) & 0x1fff;
  return length >= 7 && isSync(0) && isSync(length);
}

/** A frame header at the very start and an end before the third one: MPEG audio, too short to be anything else. */
function isTooShortStream(word: (offset: number) => number | null): boolean {
  let position = 0;
  for (let count = 0; count < 3; count++) {
    const value = word(position);
    if (value === null) return count > 0;
    const header = parseFrameHeader(value);
    if (!header) return false;
    position += header.sizeBytes;
  }
  return false;
}

/** The same unusable header at the start and at least twice more: free format, or reserved rates throughout. */
function isUnusableStream(bytes: Uint8Array): boolean {
  if (bytes.length < 4 || !isUnusableHeader(wordAt(bytes, 0)) || wordAt(bytes, 0) === 0xffffffff) return false;
  let count = 0;
  for (
    let offset = bytes.indexOf(0xff, 1);
    offset >= 0 && offset + 4 <= bytes.length;
    offset = bytes.indexOf(0xff, offset + 1)
  ) {
    if ((wordAt(bytes, offset) ^ wordAt(bytes, 0)) >>> 10 === 0) count += 1;
    if (count === 2) return true;
  }
  return false;
}

const startsWith = (bytes: Uint8Array, ...expected: readonly number[]): boolean =>
  expected.every((value, index) => bytes[index] === value);

const wordAt = (bytes: Uint8Array, offset: number): number =>
  (((bytes[offset] ?? 0) << 24) |
    ((bytes[offset + 1] ?? 0) << 16) |
    ((bytes[offset + 2] ?? 0) << 8) |
    (bytes[offset + 3] ?? 0)) >>>
  0;

const ascii = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to));
