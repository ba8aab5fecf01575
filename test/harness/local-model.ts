// A real model of this machine's engine for tests, and recordings of words that it knows, at known times (test/fixtures/local-model/README.md).
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstalledModel } from "../../src/local-models/installed-model.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/local-model");
export const RATE = 16_000;
/** The name under which the model is installed. */
export const WORDS = "words";

const files = ["model.onnx", "tokens.txt"].map((path) => {
  const bytes = readFileSync(join(FIXTURE, path));
  return { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
});

const SPEC: ModelSpec = {
  name: WORDS,
  title: "Forty English words, for tests",
  role: "recogniser",
  engine: { kind: "zipformer_ctc", model: "model.onnx", tokens: "tokens.txt" },
  languages: ["en"],
  features: {
    words: true,
    segments: true,
    confidence: false,
    keyterms: false,
    punctuation: false,
    streaming: false,
    detectsLanguage: false,
  },
  sampleRate: RATE,
  licence: { id: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0", attribution: "Patchbay" },
  files,
  source: null,
  publishedQuality: null,
  verified: true,
};

/** The model where it is, without a copy. */
export const wordsModel: InstalledModel = { name: WORDS, dir: FIXTURE, files, spec: SPEC };

/** Installs a copy into a directory of models, as `patchbay models` does. */
export function installWords(modelsDir: string, changes: Partial<ModelSpec> = {}): InstalledModel {
  return installCopy(wordsModel, modelsDir, changes);
}

/** The same with the files of another model. */
export function installCopy(
  model: InstalledModel,
  modelsDir: string,
  changes: Partial<ModelSpec> = {},
): InstalledModel {
  const spec = { ...model.spec, ...changes };
  const dir = join(modelsDir, spec.name);
  mkdirSync(dir, { recursive: true });
  for (const { path } of model.files) cpSync(join(model.dir, path), join(dir, path));
  const now = new Date().toISOString();
  const record = {
    format: 1,
    spec,
    files: model.files,
    origin: { kind: "import", from: model.dir },
    installed_at: now,
    licence: { id: spec.licence.id, url: spec.licence.url, accepted_at: now },
  };
  writeFileSync(join(dir, "installed.json"), JSON.stringify(record));
  return { name: spec.name, dir, files: model.files, spec };
}

const WAV_HEADER = 44;
const clips = JSON.parse(readFileSync(join(FIXTURE, "words.json"), "utf8")) as Readonly<
  Record<string, readonly [number, number]>
>;
const spoken = samplesOf(readFileSync(join(FIXTURE, "words.wav")).subarray(WAV_HEADER));

function samplesOf(bytes: Buffer): Int16Array {
  return new Int16Array(Uint8Array.from(bytes).buffer);
}

export interface SpokenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Spoken {
  readonly samples: Int16Array;
  readonly seconds: number;
  readonly words: readonly SpokenWord[];
}

/** Words, and numbers: seconds of silence between them. */
export function speak(...script: readonly (string | number)[]): Spoken {
  const parts: Int16Array[] = [];
  const words: SpokenWord[] = [];
  let at = 0;
  for (const item of script) {
    const part = typeof item === "number" ? new Int16Array(Math.round(item * RATE)) : clipOf(item);
    if (typeof item === "string") words.push({ text: item, start: at / RATE, end: (at + part.length) / RATE });
    parts.push(part);
    at += part.length;
  }
  const samples = new Int16Array(at);
  let filled = 0;
  for (const part of parts) {
    samples.set(part, filled);
    filled += part.length;
  }
  return { samples, seconds: at / RATE, words };
}

function clipOf(word: string): Int16Array {
  const clip = clips[word];
  if (clip === undefined) throw new Error(`there is no recording of ${word}`);
  return spoken.subarray(...clip);
}

/** Words with a short silence after each, and a second of it around them. */
export function sentence(...words: readonly string[]): Spoken {
  return speak(0.5, ...words.flatMap((word) => [word, 0.2]), 0.3);
}

/** Words that the model recognises without a fault when they are spoken in this voice. */
export const KNOWN = Object.keys(clips);

/** A WAV file of one channel at half the size (G.711). */
export function mulawOf(samples: Int16Array): Buffer {
  const header = wavOf(new Int16Array(0));
  header.writeUInt32LE(header.length - 8 + samples.length, 4);
  header.writeUInt16LE(7, 20);
  header.writeUInt32LE(RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, Uint8Array.from(samples, mulaw)]);
}

function mulaw(sample: number): number {
  const magnitude = Math.min(32_635, Math.abs(sample)) + 0x84;
  const exponent = 31 - Math.clz32(magnitude) - 7;
  const byte = (sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f);
  return ~byte & 0xff;
}

/** A WAV file with one channel for each recording. */
export function wavOf(...channels: readonly Int16Array[]): Buffer {
  const length = Math.max(...channels.map((samples) => samples.length));
  const bytes = Buffer.alloc(WAV_HEADER + length * channels.length * 2);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels.length, 22);
  bytes.writeUInt32LE(RATE, 24);
  bytes.writeUInt32LE(RATE * channels.length * 2, 28);
  bytes.writeUInt16LE(channels.length * 2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(length * channels.length * 2, 40);
  for (let index = 0; index < length; index++)
    for (const [channel, samples] of channels.entries())
      bytes.writeInt16LE(samples[index] ?? 0, WAV_HEADER + (index * channels.length + channel) * 2);
  return bytes;
}
