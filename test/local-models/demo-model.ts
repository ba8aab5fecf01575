// A small model for tests of downloads: two files, in an archive and by themselves.
import { createHash } from "node:crypto";
import { packTar, type TarEntry } from "modern-tar";
import type { ModelFile, ModelSource, ModelSpec } from "../../src/local-models/model-spec.ts";

/** Text that compresses, of several blocks of bzip2 -1. */
const MODEL = Buffer.from(Array.from({ length: 60_000 }, (_, index) => `${(index * 7_919) % 10_007}\n`).join(""));
const TOKENS = Buffer.from("<blk> 0\nhello 1\ndoctor 2\n");

export const FOLDER = "demo-model";
export const CONTENTS: Readonly<Record<string, Buffer>> = { "model.onnx": MODEL, "tokens.txt": TOKENS };
export const FILES: readonly ModelFile[] = Object.entries(CONTENTS).map(([path, content]) => fileOf(path, content));

export function fileOf(path: string, content: Buffer): ModelFile {
  return { path, bytes: content.length, sha256: sha256(content) };
}

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  return packTar([...entries]).then((bytes) => Buffer.from(bytes));
}

export function entryOf(name: string, content: Buffer, header: Partial<TarEntry["header"]> = {}): TarEntry {
  return { header: { name, size: content.length, type: "file", ...header }, body: content };
}

/** The archive as a publisher makes it: more files than the model needs. */
export function demoTar(): Promise<Buffer> {
  return tarOf([
    { header: { name: `${FOLDER}/`, size: 0, type: "directory" } },
    ...Object.entries(CONTENTS).map(([path, content]) => entryOf(`${FOLDER}/${path}`, content)),
    entryOf(`${FOLDER}/README.md`, Buffer.from("not needed\n")),
  ]);
}

export function specWith(source: ModelSource, changes: Partial<ModelSpec> = {}): ModelSpec {
  return {
    name: "demo-model",
    title: "Demo",
    role: "recogniser",
    engine: { kind: "nemo_ctc", model: "model.onnx", tokens: "tokens.txt" },
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
    sampleRate: 16_000,
    licence: { id: "CC-BY-4.0", url: "https://creativecommons.org/licenses/by/4.0/", attribution: "the tests" },
    files: FILES,
    source,
    publishedQuality: null,
    verified: false,
    ...changes,
  };
}

/** An archive at an address. */
export function archiveSource(url: string, content: Buffer): Extract<ModelSource, { kind: "archive" }> {
  return { kind: "archive", url, bytes: content.length, sha256: sha256(content), folder: FOLDER };
}
