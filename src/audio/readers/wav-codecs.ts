// Computes the duration of WAV data by the rule of the codec in its format tag, never by the byte rate in the header.
import { InvalidAudio } from "./invalid-audio.ts";

export type WavFormat = {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly byteRate: number;
  readonly blockAlign: number;
  readonly bits: number;
};

type Rule = { readonly codec: string; readonly samples: (format: WavFormat, bytes: number) => number };

/** The most compact speech codecs need twice as much. Below, a declared rate would turn a kilobyte into minutes. */
const LEAST_BYTES_PER_SECOND = 40;

/** MPEG audio of layers II and III is counted frame by frame. */
export const isMpegTag = (tag: number): boolean => tag === 0x50 || tag === 0x55;

export function wavSound(
  format: WavFormat,
  bytes: number,
): { readonly codec: string; readonly durationSeconds: number } {
  const { tag, sampleRate } = format;
  const rule = RULES.get(tag);
  if (rule === undefined && UNMEASURABLE.has(tag))
    throw new InvalidAudio(`is ${UNMEASURABLE.get(tag)} in a WAV, and its length cannot be measured; send PCM`);
  const durationSeconds =
    rule === undefined ? declaredSeconds(format, bytes) : rule.samples(format, bytes) / sampleRate;
  if (!(bytes / durationSeconds >= LEAST_BYTES_PER_SECOND))
    throw new InvalidAudio("does not declare its bytes per second");
  return { codec: rule?.codec ?? "unknown", durationSeconds };
}

/** For a tag that is in neither table, which no decoder supports: the header is all there is until a provider refuses it. */
const declaredSeconds = ({ byteRate }: WavFormat, bytes: number): number => (byteRate > 0 ? bytes / byteRate : 0);

const RULES: ReadonlyMap<number, Rule> = new Map([
  [0x0001, { codec: "pcm", samples: (format, bytes) => bytes / frameBytes(format, 1, 64) }],
  [0x0002, { codec: "adpcm", samples: samplesOfMicrosoftAdpcm }],
  [0x0003, { codec: "float", samples: (format, bytes) => bytes / frameBytes(format, 16, 64) }],
  [0x0006, fixedBits("alaw", () => 8)],
  [0x0007, fixedBits("mulaw", () => 8)],
  [0x0010, fixedBits("adpcm", () => 4)],
  [0x0011, { codec: "adpcm", samples: samplesOfImaAdpcm }],
  [0x0014, fixedBits("g726", adpcmBits)],
  [0x0017, fixedBits("adpcm", () => 4)],
  [0x0020, fixedBits("adpcm", () => 4)],
  [0x0022, wholeBlocks("truespeech", 32, 240)],
  [0x0031, wholeBlocks("gsm", 65, 320)],
  [0x0032, wholeBlocks("gsm", 65, 320)],
  [0x0040, fixedBits("g726", adpcmBits)],
  [0x0045, fixedBits("g726", adpcmBits)],
  [0x0064, fixedBits("g726", adpcmBits)],
  // ffmpeg writes twice the byte rate of G.722.
  [0x0065, fixedBits("g722", () => 4)],
  [0x0069, { codec: "adpcm", samples: samplesOfImaAdpcm }],
  [0x028f, fixedBits("g722", () => 4)],
] satisfies readonly (readonly [number, Rule])[]);

/** Codecs with packets of variable length, for which WAV has no table. */
const UNMEASURABLE: ReadonlyMap<number, string> = new Map([
  [0x000a, "Windows Media Voice"],
  [0x0038, "AMR"],
  [0x0042, "G.723.1"],
  [0x0057, "AMR"],
  [0x0058, "AMR"],
  [0x0061, "Duck ADPCM"],
  [0x0062, "Duck ADPCM"],
  [0x0075, "MetaSound"],
  [0x0083, "G.729"],
  [0x00ff, "AAC"],
  [0x0130, "Sipro ACELP"],
  [0x0160, "Windows Media Audio"],
  [0x0161, "Windows Media Audio"],
  [0x0162, "Windows Media Audio"],
  [0x0163, "Windows Media Audio"],
  [0x0200, "Creative ADPCM"],
  [0x0270, "ATRAC3"],
  [0x0401, "Intel Music Coder"],
  [0x1600, "AAC"],
  [0x1602, "AAC"],
  [0x1610, "AAC"],
  [0x2000, "AC-3"],
  [0x2001, "DTS"],
  [0x4143, "AC-3"],
  [0x566f, "Vorbis"],
  [0x674f, "Vorbis"],
  [0x6750, "Vorbis"],
  [0x6751, "Vorbis"],
  [0x676f, "Vorbis"],
  [0x6770, "Vorbis"],
  [0x6771, "Vorbis"],
  [0x706d, "AAC"],
  [0xa106, "AAC"],
  [0xa109, "Speex"],
  [0xf1ac, "FLAC"],
  [0xfffe, "an extensible format without a sub-format"],
]);

function frameBytes({ channels, bits }: WavFormat, least: number, most: number): number {
  if (bits < least || bits > most) throw new InvalidAudio("has an impossible sample size");
  return channels * Math.ceil(bits / 8);
}

function fixedBits(codec: string, bitsOf: (format: WavFormat) => number): Rule {
  return { codec, samples: (format, bytes) => (bytes * 8) / (bitsOf(format) * format.channels) };
}

/** Mono speech codecs with packets of one size. */
function wholeBlocks(codec: string, blockBytes: number, blockSamples: number): Rule {
  return {
    codec,
    samples: ({ channels }, bytes) => {
      if (channels !== 1) throw new InvalidAudio("has an impossible number of channels");
      return (bytes * blockSamples) / blockBytes;
    },
  };
}

function adpcmBits({ bits }: WavFormat): number {
  if (bits < 2 || bits > 5) throw new InvalidAudio("has an impossible sample size");
  return bits;
}

function samplesOfMicrosoftAdpcm({ channels, blockAlign }: WavFormat, bytes: number): number {
  return samplesOfBlocks(bytes, { blockAlign, headBytes: 7 * channels, headSamples: 2, sampleBytes: channels / 2 });
}

function samplesOfImaAdpcm(format: WavFormat, bytes: number): number {
  const { channels, blockAlign } = format;
  const sampleBytes = (channels * adpcmBits(format)) / 8;
  return samplesOfBlocks(bytes, { blockAlign, headBytes: 4 * channels, headSamples: 1, sampleBytes });
}

/** The last block may be truncated: the part of it after its header is played. */
function samplesOfBlocks(
  bytes: number,
  block: { blockAlign: number; headBytes: number; headSamples: number; sampleBytes: number },
): number {
  const { blockAlign, headBytes, headSamples, sampleBytes } = block;
  if (blockAlign < headBytes) throw new InvalidAudio("has blocks of an impossible size");
  const samplesIn = (size: number): number =>
    size < headBytes ? 0 : headSamples + Math.floor((size - headBytes) / sampleBytes);
  return Math.floor(bytes / blockAlign) * samplesIn(blockAlign) + samplesIn(bytes % blockAlign);
}
