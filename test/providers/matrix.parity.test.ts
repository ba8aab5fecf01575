// The models' data against the researched feature matrix (test/cases/feature-matrix.json): every difference is listed here
// with its argument, an unlisted one fails, and so does a listed one that is none.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Feature, Preference } from "../../src/contract/features.ts";
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { googleSpeech } from "../../src/providers/google-speech/google-speech.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { SpeechModel } from "../../src/providers/provider.ts";
import { OTHER_ROWS, ROWS } from "./matrix-rows.ts";

interface Matrix {
  readonly features: readonly string[];
  readonly models: Readonly<
    Record<string, Readonly<Record<string, { readonly s: "N" | "C" | "E" | "W" | "U"; readonly p?: string }>>>
  >;
}
const matrix = JSON.parse(await readFile(new URL("../cases/feature-matrix.json", import.meta.url), "utf8")) as Matrix;

const FEATURE_COLUMNS: Readonly<Record<string, readonly Feature[]>> = {
  diarization: ["diarization"],
  ts_word: ["timestamps.word"],
  ts_segment: ["timestamps.segment"],
  keyterms: ["keyterms"],
  profanity_filter: ["profanity_filter"],
  redaction: ["redaction.pii", "redaction.pci", "redaction.phi", "redaction.numbers"],
  multichannel: ["multichannel"],
  translation: ["translation"],
  realtime: ["streaming"],
};
const PREFERENCE_COLUMNS: Readonly<Record<string, Preference>> = {
  language: "language",
  detect_language: "detect_language",
  speaker_count_hint: "speaker_count_hint",
  smart_formatting: "smart_formatting",
  prompt: "prompt",
};
/** Columns that are not data of a model here, and where they are decided instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  batch: "every speech model transcribes a file in one call",
  async: "jobs run the synchronous call; the provider's own callbacks are not used",
  url_input: "the gateway fetches and uploads; a caller's URL is never passed on",
  rf_json: "the gateway renders every format from words and segments, so a format needs only its times or speakers",
  rf_text: "as rf_json",
  rf_verbose: "as rf_json",
  rf_diarized_json: "as rf_json",
  rf_srt: "as rf_json",
  rf_vtt: "as rf_json",
  out_language: "what comes back is read when it is there; nothing can require it",
  out_language_confidence: "as out_language",
  out_word_confidence: "as out_language",
  out_duration: "the gateway measures; the provider's figure is a note in the usage record",
  delete:
    "an adapter whose provider keeps transcripts deletes them (its contract test); the others have nothing to delete",
  limits: "compared below",
};
interface Difference {
  readonly rows: readonly string[];
  /** Only these of the row's models. */
  readonly models?: readonly string[];
  readonly column: string;
  readonly ours: string;
  readonly because: string;
}
const DEEPGRAM = ["deepgram/nova-3", "deepgram/nova-2"];
const ASSEMBLYAI = ["assemblyai/universal-3-pro, 3-5-pro", "assemblyai/universal-2"];
const GEMINI_TRANSCRIBE = "google/gemini-3.5-transcribe";
const DIFFERENCES: readonly Difference[] = [
  {
    rows: [GEMINI_TRANSCRIBE],
    column: "realtime",
    ours: "absent",
    because: "live transcription is another endpoint of this provider, and no adapter speaks it",
  },
  {
    rows: ["assemblyai/universal-3-pro, 3-5-pro"],
    column: "realtime",
    ours: "absent",
    because: "the provider's streaming models do it, which have rows of their own in the catalogue",
  },
  {
    rows: ["compat/mistral voxtral"],
    column: "realtime",
    ours: "absent",
    because: "another model does it, over a socket that no adapter speaks",
  },
  {
    rows: ["compat/mistral voxtral"],
    column: "detect_language",
    ours: "absent",
    because: "the parameter that makes it return the language is not documented for these models",
  },
  {
    rows: ["elevenlabs/scribe_v2"],
    column: "realtime",
    ours: "absent",
    because: "other models do it, without speakers and redaction, which have rows of their own in the catalogue",
  },
  {
    rows: ["elevenlabs/scribe_v2"],
    column: "redaction",
    ours: "absent",
    because: "the group numbers alone: it redacts by category, and none of its categories is numbers",
  },
  {
    rows: ASSEMBLYAI,
    column: "translation",
    ours: "absent",
    because:
      "a paid add-on that answers with one text, without times or speakers: an envelope of it would promise what it lacks",
  },
  {
    rows: DEEPGRAM,
    models: [
      "nova-3-medical",
      ...Object.keys(deepgram.models).filter((name) => name.startsWith("nova-2-") && name !== "nova-2-general"),
    ],
    column: "detect_language",
    ours: "absent",
    because: "a model made for one kind of audio knows one language, and detection would answer with another model",
  },
  {
    rows: [GEMINI_TRANSCRIBE],
    column: "smart_formatting",
    ours: "absent",
    because:
      "its mode `smart` drops words and accepts neither times nor speakers with it; verbatim is formatted anyway",
  },
  {
    rows: ["google/chirp_3 (v2)"],
    column: "ts_word",
    ours: "absent",
    because: "batches alone have them: they are declared of a target with a bucket, and refused without one",
  },
  {
    rows: ["google/chirp_3 (v2)"],
    column: "profanity_filter",
    ours: "absent",
    because: "whether the model heeds the parameter is not known, and nothing in an answer would show that it did not",
  },
  {
    rows: ["google/chirp_2, long (v2)"],
    column: "diarization",
    ours: "absent",
    because: "the API answers that the recognizer does not support it",
  },
  {
    rows: ["google/chirp_2, long (v2)"],
    column: "detect_language",
    ours: "absent",
    because: "it picks from a list of languages, and a request that asks for detection has no list",
  },
  {
    rows: ["google/chirp_2, long (v2)"],
    models: ["long"],
    column: "translation",
    ours: "absent",
    because: "the parameter is chirp_2's alone",
  },
];

const WANTED = { N: "native", C: "native", E: "exact", W: "weak", U: "absent" } as const;
const TAKEN = { N: "taken", C: "taken", E: "taken", W: "absent", U: "absent" } as const;

const found: string[] = [];

for (const [row, model, data] of ROWS) {
  for (const [column, features] of Object.entries(FEATURE_COLUMNS)) {
    test(`providers.matrix: ${model} declares ${column} as the matrix has it, or differs for a listed reason`, () => {
      const { cell, speech } = cellAndModel(row, column, data);
      for (const feature of features) {
        compare(row, model, column, WANTED[cell.s], speech.features[feature]?.support ?? "absent");
        if (cell.s === "C" && speech.features[feature] !== undefined) {
          assert.ok(hasCondition(speech, feature), `${feature} works under a condition, and the data have none`);
        }
      }
    });
  }
  for (const [column, preference] of Object.entries(PREFERENCE_COLUMNS)) {
    test(`providers.matrix: ${model} accepts the preference ${column} as the matrix has it`, () => {
      const { cell, speech } = cellAndModel(row, column, data);
      compare(row, model, column, TAKEN[cell.s], speech.preferences.includes(preference) ? "taken" : "absent");
    });
  }
}

test("providers.matrix: every listed difference exists", () => {
  const listed = DIFFERENCES.flatMap(({ rows, column }) => rows.map((row) => `${row} ${column}`));
  assert.deepEqual([...new Set(found)].toSorted(), listed.toSorted());
});

test("providers.matrix: every row and column of the matrix is compared or accounted for", () => {
  assert.deepEqual(
    Object.keys(matrix.models).toSorted(),
    [...new Set(ROWS.map(([row]) => row)), ...OTHER_ROWS].toSorted(),
  );
  const columns = [...Object.keys(FEATURE_COLUMNS), ...Object.keys(PREFERENCE_COLUMNS), ...Object.keys(ELSEWHERE)];
  assert.deepEqual(columns.toSorted(), matrix.features.toSorted());
});

test("providers.matrix: every model of these catalogues has a row in the matrix", () => {
  const known = [assemblyai, deepgram, elevenlabs, geminiAudio, googleSpeech, openai, openaiCompatible].flatMap(
    ({ models }) => Object.keys(models),
  );
  // An older model that the matrix does not contain, and declares less than scribe_v2; and those that the matrix names in the column
  // `realtime` of another model's row.
  const without = [
    "gpt-live-transcribe",
    "gpt-realtime-whisper",
    "scribe_v1",
    "scribe_v2_realtime",
    "scribe_v2_realtime_lite",
    "scribe_v2_realtime_turbo",
    "u3-rt-pro",
    "universal-3-6-pro",
    "universal-streaming-english",
    "universal-streaming-multilingual",
  ];
  assert.deepEqual(known.filter((name) => without.includes(name)).toSorted(), without);
  assert.deepEqual(
    known.filter((name) => !without.includes(name)).toSorted(),
    ROWS.map(([, model]) => model).toSorted(),
  );
});

/** Three quarters of what 100 MB leave in base64, without the rest of the request. */
const INLINE = 74_950_848;

const LIMITS: Readonly<Record<string, Partial<SpeechModel["limits"]>>> = {
  "2 GB; 10 min processing": { maxBytes: 2_000_000_000 },
  "<5 GB, 10 h, ≥100 ms": { maxBytes: 4_999_934_464, maxSeconds: 36_000 },
  "upload 2.2 GB, URL 5 GB, 160 ms–10 h": { maxBytes: 2_200_000_000, maxSeconds: 36_000 },
  "as above": { maxBytes: 2_200_000_000, maxSeconds: 36_000 },
  "100 MB inline; 1 h (30 min with words/speakers)": { maxBytes: INLINE, maxSeconds: 3_600 },
  "100 MB request inline; 9.5 h via Files": { maxBytes: INLINE, maxSeconds: 34_200 },
  "sync 10 MB/60 s; batch ≤1 h (20 min with words)": { maxBytes: 7_450_848, maxSeconds: 60 },
  "sync 10 MB/60 s; batch ≤8 h": { maxBytes: 7_450_848, maxSeconds: 60 },
  "25 MiB body; no duration cap known": { maxBytes: 26_214_400 - 65_536 },
  "not verified": {},
  "25 MB": { maxBytes: 26_214_400 - 65_536 },
  "25 MiB; about 1500 s": { maxBytes: 26_214_400 - 65_536, maxSeconds: 1500 },
  "25 MiB; 1400 s": { maxBytes: 26_214_400 - 65_536, maxSeconds: 1400 },
};

test("providers.matrix, providers.model-limits: size and duration limits are those of the matrix", () => {
  for (const [row, model, data] of ROWS) {
    const { cell, speech } = cellAndModel(row, "limits", data);
    const { maxBytes, maxSeconds } = speech.limits;
    const limits = {
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(maxSeconds === undefined ? {} : { maxSeconds }),
    };
    assert.deepEqual(limits, LIMITS[cell.p ?? ""], model);
  }
});

function cellAndModel(
  row: string,
  column: string,
  data: SpeechModel | undefined,
): { cell: { s: keyof typeof WANTED; p?: string }; speech: SpeechModel } {
  const cell = matrix.models[row]?.[column];
  assert.ok(cell && data);
  return { cell, speech: data };
}

function compare(row: string, model: string, column: string, wanted: string, ours: string): void {
  if (wanted === ours) return;
  const difference = DIFFERENCES.find(
    (each) =>
      each.rows.includes(row) && (each.models?.includes(model) ?? true) && each.column === column && each.ours === ours,
  );
  assert.ok(difference, `${model} ${column}: the matrix says ${wanted}, the model data ${ours}`);
  found.push(`${row} ${column}`);
}

/** A condition is a list of languages, or a limit that routing checks. */
function hasCondition(speech: SpeechModel, feature: Feature): boolean {
  if (speech.features[feature]?.languages !== undefined) return true;
  if (speech.limits.maxSecondsWith?.[feature] !== undefined) return true;
  // Of files, which is what the sandbox and the adapters stream; live audio is another endpoint.
  if (feature === "streaming") return true;
  if (feature === "translation") return speech.translatesInto !== "any";
  if (feature === "keyterms") return speech.limits.keyterms !== undefined;
  return feature === "multichannel" && speech.limits.maxChannels !== undefined;
}

test("providers.configured-model: a bucket gives Google's models their batches: longer audio, and chirp_3 its word times of 20 minutes", () => {
  const bucket = { bucket: "acme-audio" };
  const configured = Object.entries(googleSpeech.models).map(([name, model]) => {
    const { features, limits } = googleSpeech.configured?.(name, model, bucket) ?? model;
    return [name, features["timestamps.word"]?.support, limits.maxBytes, limits.maxSeconds, limits.maxSecondsWith];
  });
  assert.deepEqual(configured, [
    ["chirp_3", "native", undefined, 3_600, { "timestamps.word": 1_200 }],
    ["chirp_2", "native", undefined, 28_800, undefined],
    ["long", "native", undefined, 28_800, undefined],
  ]);
});
