// The audio tracks a WebM file announces.
import type { ByteReader } from "./byte-reader.ts";
import { type Element, listElements, readAscii, readFloat, readUnsigned } from "./ebml.ts";
import { InvalidAudio } from "./invalid-audio.ts";

export type WebmTrack = {
  readonly number: number;
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  /** Opus packets tell their own length; of any other codec only the clock does, believed up to this much per packet. */
  readonly isOpus: boolean;
  readonly longestPacketSeconds: number;
  readonly mostBytesPerSecond: number;
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
} as const;
const ENCODINGS = 0x6d80;
const ENCODING = 0x6240;
const ENCRYPTION = 0x5035;
const AUDIO_TYPE = 2;
const CODECS: Readonly<Record<string, string>> = { A_OPUS: "opus", A_VORBIS: "vorbis" };

export function readWebmTracks(reader: ByteReader, tracks: Element): readonly WebmTrack[] {
  const found: WebmTrack[] = [];
  for (const entry of listElements(reader, tracks)) {
    const track = entry.id === ID.entry ? readEntry(reader, entry) : null;
    if (track) found.push(track);
  }
  return found;
}

function readEntry(reader: ByteReader, entry: Element): WebmTrack | null {
  const fields = new Map(listElements(reader, entry).map((element) => [element.id, element]));
  const unsigned = (id: number, from: ReadonlyMap<number, Element>): number => {
    const element = from.get(id);
    return element ? readUnsigned(reader, element) : 0;
  };
  if (unsigned(ID.type, fields) !== AUDIO_TYPE) return null;
  const isEncoded = refuseEncryption(reader, fields.get(ENCODINGS));
  const audio = fields.get(ID.audio);
  const sound = new Map((audio ? listElements(reader, audio) : []).map((element) => [element.id, element]));
  const codecElement = fields.get(ID.codec);
  const codec = CODECS[codecElement ? readAscii(reader, codecElement) : ""] ?? "unknown";
  const rate = sound.get(ID.rate);
  const sampleRate = codec === "opus" ? 48_000 : rate ? Math.round(readFloat(reader, rate)) : 8000;
  if (!(sampleRate >= 1000 && sampleRate <= 768_000)) throw new InvalidAudio("has an impossible sample rate");
  return {
    number: unsigned(ID.number, fields),
    codec,
    channels: unsigned(ID.channels, sound) || 1,
    sampleRate,
    isOpus: codec === "opus" && !isEncoded,
    longestPacketSeconds: codec === "vorbis" ? Math.min(1, 8192 / sampleRate) : codec === "opus" ? 0.12 : 1,
    mostBytesPerSecond: codec === "unknown" ? 5_000_000 : 250_000,
    delaySeconds: Math.min(unsigned(ID.delay, fields) / 1e9, 0.5),
  };
}

/** True when packets are stored in another form (WebM forbids it, Matroska knows it): their first bytes are not the codec's. */
function refuseEncryption(reader: ByteReader, encodings: Element | undefined): boolean {
  if (!encodings) return false;
  for (const encoding of listElements(reader, encodings)) {
    if (encoding.id !== ENCODING) continue;
    if (listElements(reader, encoding).some((element) => element.id === ENCRYPTION))
      throw new InvalidAudio("is encrypted");
  }
  return true;
}
