// Which row of the researched feature matrix (test/cases/feature-matrix.json) each speech model of the catalogue is held to.
import { assemblyai } from "../../src/providers/assemblyai/assemblyai.ts";
import { deepgram } from "../../src/providers/deepgram/deepgram.ts";
import { geminiAudio } from "../../src/providers/gemini/gemini-audio.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/elevenlabs.ts";
import { googleSpeech } from "../../src/providers/google-speech/google-speech.ts";
import { openaiCompatible } from "../../src/providers/openai/openai-compatible.ts";
import { openai } from "../../src/providers/openai/openai.ts";
import type { SpeechModel } from "../../src/providers/provider.ts";

export const ROWS: readonly (readonly [row: string, model: string, data: SpeechModel | undefined])[] = [
  ...["nova-3", "nova-3-general", "nova-3-medical"].map(
    (name) => ["deepgram/nova-3", name, deepgram.models[name]] as const,
  ),
  ...Object.keys(deepgram.models)
    .filter((name) => name.startsWith("nova-2"))
    .map((name) => ["deepgram/nova-2", name, deepgram.models[name]] as const),
  ["openai/whisper-1", "whisper-1", openai.models["whisper-1"]],
  ...[
    "gpt-4o-transcribe",
    "gpt-4o-mini-transcribe",
    "gpt-4o-mini-transcribe-2025-12-15",
    "gpt-4o-mini-transcribe-2025-03-20",
  ].map((name) => ["openai/gpt-4o-transcribe, -mini", name, openai.models[name]] as const),
  ["openai/gpt-4o-transcribe-diarize", "gpt-4o-transcribe-diarize", openai.models["gpt-4o-transcribe-diarize"]],
  ["openai/gpt-transcribe", "gpt-transcribe", openai.models["gpt-transcribe"]],
  // No table of features of assemblyai-stt-3-7 could be read: it is held to that of the models before it.
  ...["universal-3-pro", "universal-3-5-pro", "assemblyai-stt-3-7"].map(
    (name) => ["assemblyai/universal-3-pro, 3-5-pro", name, assemblyai.models[name]] as const,
  ),
  ["assemblyai/universal-2", "universal-2", assemblyai.models["universal-2"]],
  ["google/gemini-3.5-transcribe", "gemini-3.5-transcribe", geminiAudio.models["gemini-3.5-transcribe"]],
  ...Object.entries(geminiAudio.models)
    .filter(([name]) => name !== "gemini-3.5-transcribe")
    .map(([name, model]) => ["google/gemini general model", name, model] as const),
  ...Object.entries(openaiCompatible.models).map(([name, model]) => ["compat/mistral voxtral", name, model] as const),
  ["elevenlabs/scribe_v2", "scribe_v2", elevenlabs.models["scribe_v2"]],
  ["google/chirp_3 (v2)", "chirp_3", googleSpeech.models["chirp_3"]],
  ...["chirp_2", "long"].map((name) => ["google/chirp_2, long (v2)", name, googleSpeech.models[name]] as const),
];

/** Rows of the matrix that have no adapter here, or no catalogue entry: self-hosted models are declared, not known. */
export const OTHER_ROWS = [
  "compat/groq whisper-large-v3",
  "self-hosted/speaches",
  "self-hosted/whisper.cpp",
  "self-hosted/vLLM",
];
