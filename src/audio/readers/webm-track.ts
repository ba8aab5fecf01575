// Reads the tracks that a WebM file declares: those with sound, and whether a browser could have recorded them all.
import type { ByteReader } from "./byte-reader.ts";
import { type Element, listElements, readAscii, readFloat, readUnsigned } from "./ebml.ts";
import { InvalidAudio, UnsupportedContainer } from "./invalid-audio.ts";

export type WebmTrack = {
  readonly number: number;
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  /** Opus packets contain their own duration. For other codecs only the clock does, trusted up to this much per packet. */
  readonly isOpus: boolean;
  readonly longestPacketSeconds: number;
  readonly mostBytesPerSecond: number;
  /** Rate of uncompressed samples: their duration is computed from their bytes. */
  readonly bytesPerSecond: number | null;
  readonly delaySeconds: number;
};

const ID = {
  entry: 0xae,
  number: 0xd7,
  type: 0x83,
  codec: 0x86,
  delay: 0x56aa,
  audio: 0xe1,
  rate: 0xb5,
  channels: 0x9f,
  bits: 0x6264,
} as const;
const ENCODINGS = 0x6d80;
const ENCODING = 0x6240;
const ENCRYPTION = 0x5035;
const AUDIO_TYPE = 2;
const VIDEO_TYPE = 1;
const CODECS: Readonly<Record<string, string>> = {
  A_OPUS: "opus",
  A_VORBIS: "vorbis",
  "A_PCM/INT/LIT": "pcm",
  "A_PCM/FLOAT/IEEE": "float",
};
const WEBM_CODECS: ReadonlySet<string> = new Set(["A_OPUS", "A_VORBIS", "V_VP8", "V_VP9"]);
/** Codecs that browsers also record, but then call their WebM "matroska", because WebM's own list does not have them. */
const BROWSER_CODECS: ReadonlySet<string> = new Set([
  "A_PCM/INT/LIT",
  "A_PCM/FLOAT/IEEE",
  "V_MPEG4/ISO/AVC",
  "V_MPEGH/ISO/HEVC",
  "V_AV1",
]);

type Fields = ReadonlyMap<number, Element>;

export function readWebmTracks(reader: ByteReader, tracks: Element, docType: string): readonly WebmTrack[] {
  const entries = listElements(reader, tracks)
    .filter(({ id }) => id === ID.entry)
    .map((entry): Fields => new Map(listElements(reader, entry).map((element) => [element.id, element])));
  if (docType !== "webm" && !isOfBrowser(reader, entries))
    throw new UnsupportedContainer("is Matroska that no browser records; send WebM, such as audio/webm;codecs=opus");
  return entries.flatMap((fields) => readEntry(reader, fields) ?? []);
}

/** At most one audio and one video track, one of them with a codec that WebM does not allow. */
function isOfBrowser(reader: ByteReader, entries: readonly Fields[]): boolean {
  const typeOf = (fields: Fields): number => unsignedField(reader, fields, ID.type);
  const count = (type: number): number => entries.filter((fields) => typeOf(fields) === type).length;
  const codecs = entries.map((fields) => codecId(reader, fields));
  return (
    count(AUDIO_TYPE) <= 1 &&
    count(VIDEO_TYPE) <= 1 &&
    entries.length === count(AUDIO_TYPE) + count(VIDEO_TYPE) &&
    codecs.every((codec) => WEBM_CODECS.has(codec) || BROWSER_CODECS.has(codec)) &&
    codecs.some((codec) => BROWSER_CODECS.has(codec))
  );
}

function codecId(reader: ByteReader, fields: Fields): string {
  const element = fields.get(ID.codec);
  return element ? readAscii(reader, element) : "";
}

function unsignedField(reader: ByteReader, fields: Fields, id: number): number {
  const element = fields.get(id);
  return element ? readUnsigned(reader, element) : 0;
}

function readEntry(reader: ByteReader, fields: Fields): WebmTrack | null {
  if (unsignedField(reader, fields, ID.type) !== AUDIO_TYPE) return null;
  const isEncoded = refuseEncryption(reader, fields.get(ENCODINGS));
  const audio = fields.get(ID.audio);
  const sound = new Map((audio ? listElements(reader, audio) : []).map((element) => [element.id, element]));
  const codec = CODECS[codecId(reader, fields)] ?? "unknown";
  const rate = sound.get(ID.rate);
  const sampleRate = codec === "opus" ? 48_000 : rate ? Math.round(readFloat(reader, rate)) : 8000;
  if (!(sampleRate >= 1000 && sampleRate <= 768_000)) throw new InvalidAudio("has an impossible sample rate");
  const channels = unsignedField(reader, sound, ID.channels) || 1;
  const isPcm = (codec === "pcm" || codec === "float") && !isEncoded;
  return {
    number: unsignedField(reader, fields, ID.number),
    codec,
    channels,
    sampleRate,
    isOpus: codec === "opus" && !isEncoded,
    longestPacketSeconds: codec === "vorbis" ? Math.min(1, 8192 / sampleRate) : codec === "opus" ? 0.12 : 1,
    mostBytesPerSecond: codec === "vorbis" || codec === "opus" ? 250_000 : 5_000_000,
    bytesPerSecond: isPcm ? pcmBytesPerSecond(unsignedField(reader, sound, ID.bits), channels, sampleRate) : null,
    delaySeconds: Math.min(unsignedField(reader, fields, ID.delay) / 1e9, 0.5),
  };
}

function pcmBytesPerSecond(bits: number, channels: number, sampleRate: number): number {
  if (bits < 8 || bits > 64 || bits % 8 !== 0) throw new InvalidAudio("has an impossible sample size");
  if (channels > 64) throw new InvalidAudio("has an impossible number of channels");
  return (bits / 8) * channels * sampleRate;
}

/** Whether the packets are compressed (not allowed in WebM, but in Matroska), so that their first bytes are not the codec's. Throws if encrypted. */
function refuseEncryption(reader: ByteReader, encodings: Element | undefined): boolean {
  if (!encodings) return false;
  for (const encoding of listElements(reader, encodings)) {
    if (encoding.id !== ENCODING) continue;
    if (listElements(reader, encoding).some((element) => element.id === ENCRYPTION))
      throw new InvalidAudio("is encrypted");
  }
  return true;
}
