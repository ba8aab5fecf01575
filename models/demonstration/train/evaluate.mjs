// Measures the model with the engine that serves it: word errors and word times by group of voices, the bundled sample through
// every codec, equal results when repeated, decode time and memory.
//
//   node evaluate.mjs --engine DIR --recordings DIR [--model DIR] [--speech FILE=TEXT …] [--out FILE]
//
// --engine is a directory where `npm install sherpa-onnx-node@1.13.8` was run, --recordings what `generate.py heldout` wrote.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { alignWords } from "../../../test/harness/word-errors.ts";

const here = import.meta.dirname;
const { values } = parseArgs({
  options: {
    engine: { type: "string" },
    model: { type: "string", default: join(here, "..") },
    recordings: { type: "string" },
    speech: { type: "string", multiple: true, default: [] },
    out: { type: "string" },
  },
});
const { OfflineRecognizer } = createRequire(join(resolve(values.engine), "package.json"))("sherpa-onnx-node");
const megabytes = () => Math.round(process.memoryUsage().rss / 1e6);

const memoryBefore = megabytes();
const recogniser = new OfflineRecognizer({
  featConfig: { sampleRate: 16000, featureDim: 80 },
  modelConfig: {
    zipformerCtc: { model: join(values.model, "model.onnx") },
    tokens: join(values.model, "tokens.txt"),
    numThreads: 1,
    provider: "cpu",
    debug: 0,
  },
  decodingMethod: "greedy_search",
});
const memoryLoaded = megabytes();

let decodeMs = 0;
let decodedSeconds = 0;

/** Words with their times. A token is a word where it begins; a lone space is a pause, where the word before it ends. */
function recognise(samples) {
  const stream = recogniser.createStream();
  stream.acceptWaveform({ samples, sampleRate: 16000 });
  const started = performance.now();
  recogniser.decode(stream);
  const result = recogniser.getResult(stream);
  decodeMs += performance.now() - started;
  const seconds = samples.length / 16000;
  decodedSeconds += seconds;
  const words = [];
  result.tokens.forEach((token, index) => {
    const text = token.trim();
    if (text === "") return;
    const end = result.timestamps[index + 1] ?? seconds;
    words.push({ text, start: result.timestamps[index], end });
  });
  return { text: words.map((word) => word.text).join(" "), words, raw: JSON.stringify(result) };
}

function readPcm(path) {
  // 16 kHz, mono, 16 bit, as generate.py writes it: 44 bytes of header.
  return toFloats(readFileSync(path).subarray(44));
}

function toFloats(bytes) {
  const samples = new Float32Array(bytes.length >> 1);
  for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * 2) / 32768;
  return samples;
}

/** Pairs of equal words, and the number of errors. */
function align(reference, hypothesis) {
  const textsOf = (words) => words.map((word) => word.text);
  const { matches, substitutions, deletions, insertions, errors } = alignWords(textsOf(reference), textsOf(hypothesis));
  return { pairs: matches.map(([i, j]) => [reference[i], hypothesis[j]]), counts: { substitutions, deletions, insertions }, errors };
}

function timeErrors(differences) {
  const sorted = differences.map(Math.abs).toSorted((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (share) => Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(3));
  const within = sorted.filter((difference) => difference <= 0.1).length / sorted.length;
  return { median: at(0.5), p95: at(0.95), p99: at(0.99), maximum: at(1), withinTenth: Number(within.toFixed(4)) };
}

const outputs = [];
const confusions = new Map();

function measureGroup(folder) {
  const truth = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8"));
  const total = { substitutions: 0, deletions: 0, insertions: 0 };
  const starts = [];
  const ends = [];
  const byVoice = new Map();
  let words = 0;
  let errors = 0;
  let exact = 0;
  for (const entry of truth) {
    const samples = readPcm(join(folder, entry.file));
    const heard = recognise(samples);
    outputs.push(heard.raw);
    if (recognise(samples).raw !== heard.raw) throw new Error(`${folder}/${entry.file}: another result when repeated`);
    const result = align(entry.words, heard.words);
    for (const kind of Object.keys(total)) total[kind] += result.counts[kind];
    for (const [wanted, word] of result.pairs) {
      starts.push(word.start - wanted.start);
      ends.push(word.end - wanted.end);
    }
    words += entry.words.length;
    errors += result.errors;
    exact += result.errors === 0 ? 1 : 0;
    const voice = entry.voice.replace(/ -p.*| stretch.*/u, "").replace(/espeak-ng [^+]*/u, "espeak-ng *");
    const its = byVoice.get(voice) ?? { words: 0, errors: 0 };
    byVoice.set(voice, { words: its.words + entry.words.length, errors: its.errors + result.errors });
    const heardTexts = new Set(heard.words.map((word) => word.text));
    for (const word of entry.words)
      if (!heardTexts.has(word.text)) confusions.set(word.text, (confusions.get(word.text) ?? 0) + 1);
  }
  return {
    recordings: truth.length,
    words,
    wordErrorRate: Number((errors / words).toFixed(4)),
    sentencesWithoutError: Number((exact / truth.length).toFixed(3)),
    ...total,
    starts: timeErrors(starts),
    ends: timeErrors(ends),
    byVoice: Object.fromEntries(
      [...byVoice].map(([voice, its]) => [voice, Number((its.errors / its.words).toFixed(3))]).toSorted(([left], [right]) => String(left).localeCompare(String(right))),
    ),
  };
}

// --- one recording, through every codec ---------------------------------------------------------------------------------------------

const QUIET = ["-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1"];
const ENCODINGS = {
  wav: ["-c:a", "pcm_s16le", "-f", "wav"],
  flac: ["-c:a", "flac", "-f", "flac"],
  "opus in webm, 24 kb/s": ["-c:a", "libopus", "-b:a", "24k", "-f", "webm"],
  "opus in ogg, 48 kb/s": ["-c:a", "libopus", "-b:a", "48k", "-f", "ogg"],
  "mp3, 32 kb/s": ["-c:a", "libmp3lame", "-b:a", "32k", "-f", "mp3"],
  "aac, 48 kb/s": ["-c:a", "aac", "-b:a", "48k", "-f", "adts"],
  "mu-law, 8 kHz": ["-ar", "8000", "-c:a", "pcm_mulaw", "-f", "wav"],
  "stereo, 44.1 kHz": ["-ar", "44100", "-ac", "2", "-c:a", "pcm_s16le", "-f", "wav"],
};

/** As the gateway decodes: 16 kHz mono, 16 bit. */
function decodeFile(input, bytes) {
  const options = bytes === undefined ? {} : { input: bytes };
  const out = ["-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"];
  return toFloats(execFileSync("ffmpeg", [...QUIET, "-i", input, ...out], { ...options, maxBuffer: 1 << 28 }));
}

function measureFile(path, text) {
  const wanted = text.split(" ").map((word) => ({ text: word }));
  const report = {};
  const judge = (name, samples) => {
    const heard = recognise(samples);
    outputs.push(heard.raw);
    const { errors } = align(wanted, heard.words);
    report[name] = {
      wordForWord: errors === 0,
      wordErrorRate: Number((errors / wanted.length).toFixed(3)),
      text: heard.text,
    };
    return heard;
  };
  const original = judge("as it is", decodeFile(path));
  for (const [name, encoding] of Object.entries(ENCODINGS)) {
    const encoded = execFileSync("ffmpeg", [...QUIET, "-i", path, ...encoding, "pipe:1"], { maxBuffer: 1 << 28 });
    judge(name, decodeFile("pipe:0", encoded));
  }
  return { report, original };
}

const report = { memory: { beforeMB: memoryBefore, loadedMB: memoryLoaded } };
if (values.recordings !== undefined) {
  report.groups = {};
  for (const group of readdirSync(values.recordings).toSorted())
    if (existsSync(join(values.recordings, group, "truth.json")))
      report.groups[group] = measureGroup(join(values.recordings, group));
  report.mostMissed = [...confusions].toSorted((a, b) => b[1] - a[1]).slice(0, 15);
}
report.files = {};
for (const speech of values.speech) {
  const [path, text] = speech.split("=");
  const { report: its, original } = measureFile(path, text);
  const name = path.split("/").at(-1);
  report.files[name] = its;
  const truthPath = path.replace(/\.\w+$/u, ".json");
  if (existsSync(truthPath)) {
    const truth = JSON.parse(readFileSync(truthPath, "utf8")).words.map((word) => ({
      ...word,
      text: word.text.toLowerCase().replace(/[^a-z]/gu, ""),
    }));
    const { pairs } = align(truth, original.words);
    report.files[name].starts = timeErrors(pairs.map(([wanted, word]) => word.start - wanted.start));
    report.files[name].ends = timeErrors(pairs.map(([wanted, word]) => word.end - wanted.end));
  }
}
report.decode = {
  audioSeconds: Math.round(decodedSeconds),
  msPerSecondOfAudio: Number((decodeMs / decodedSeconds).toFixed(3)),
};
report.memory.afterMB = megabytes();
report.resultsSha256 = createHash("sha256").update(outputs.join("\n")).digest("hex");
const text = `${JSON.stringify(report, null, 2)}\n`;
if (values.out === undefined) process.stdout.write(text);
else writeFileSync(values.out, text);
