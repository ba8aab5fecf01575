// Recordings of people (test/fixtures/human-speech/README.md), the models that have to recognise them, and the most errors that a model may make.
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createDecoder } from "../../src/audio/decode/decoder.ts";
import { findFfmpeg } from "../../src/audio/decode/find-ffmpeg.ts";
import type { InstalledModel } from "../../src/local-models/installed-model.ts";
import { MANIFEST } from "../../src/local-models/manifest.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import { listInstalled } from "../../src/local-models/model-store.ts";
import { measureRecording } from "../../src/operations/models/decode-again.ts";
import { isRecogniser } from "../../src/providers/local/local-models.ts";
import { RATE } from "./local-model.ts";
import { MODELS_DIR } from "./models-dir.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/human-speech");

export interface HumanRecording {
  readonly name: string;
  /** As it is stored. */
  readonly file: Uint8Array;
  readonly text: string;
  /** 16 kHz, mono. */
  readonly samples: Int16Array;
}

export interface HumanSpeech {
  readonly recordings: readonly HumanRecording[];
  /** Files that no decoder of this machine reads. */
  readonly undecoded: readonly string[];
}

export async function readHumanSpeech(): Promise<HumanSpeech> {
  const listed = JSON.parse(readFileSync(join(FIXTURE, "speech.json"), "utf8")) as readonly {
    readonly file: string;
    readonly text: string;
  }[];
  const recordings: HumanRecording[] = [];
  const undecoded: string[] = [];
  for (const { file: name, text } of listed) {
    const path = join(FIXTURE, name);
    const samples = await decode(path);
    if (samples === null) undecoded.push(name);
    else recordings.push({ name, file: readFileSync(path), text, samples });
  }
  return { recordings, undecoded };
}

/** Null: no decoder here reads it at the rate of the others. */
async function decode(path: string): Promise<Int16Array | null> {
  const decoder = createDecoder({ ffmpeg: findFfmpeg(process.env["PATH"]), directory: tmpdir() });
  const recording = await measureRecording(path);
  if (decoder.rateOf(recording) !== RATE) return null;
  const chunks: Int16Array[] = [];
  const { signal } = new AbortController();
  for await (const chunk of decoder.decode(recording, { channels: "mono", signal }).chunks) chunks.push(chunk);
  return joinSamples(chunks);
}

export function joinSamples(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export interface RealModels {
  /** Null: the variable is not set. */
  readonly dir: string | null;
  /** Recognisers of English. */
  readonly models: readonly InstalledModel[];
}

/** Throws if the directory has no model to test: a run that was asked for must not pass without one. */
export async function realModels(env: Readonly<Record<string, string | undefined>> = process.env): Promise<RealModels> {
  const named = env[MODELS_DIR] ?? "";
  if (named === "") return { dir: null, models: [] };
  const dir = resolve(named);
  const models = (await listInstalled(dir, MANIFEST)).filter(({ spec }) => isRecogniser(spec) && knowsEnglish(spec));
  if (models.length === 0) throw new Error(`${MODELS_DIR} is ${dir}, where no recogniser of English is installed`);
  return { dir, models };
}

function knowsEnglish({ languages }: ModelSpec): boolean {
  return languages.length === 0 || languages.includes("en");
}

/** Added to the published rate: these are few sentences, and other ones. */
const MARGIN = 0.1;
/** For a model without a published rate. */
const UNPUBLISHED_BOUND = 0.5;

/** The most errors per word that a model may make: its highest published rate and a tenth. */
export function errorBound({ publishedQuality }: Pick<ModelSpec, "publishedQuality">): number {
  const percentages = [...(publishedQuality ?? "").matchAll(/(\d+(?:\.\d+)?) ?%/gu)].map(([, number]) =>
    Number(number),
  );
  return percentages.length === 0 ? UNPUBLISHED_BOUND : Math.max(...percentages) / 100 + MARGIN;
}
