// Routes method and path to a simulated protocol. Each provider has a path prefix, so that one server can simulate all of them.
import { anthropicModelsWire } from "./anthropic/anthropic-model-list.ts";
import { anthropicWire } from "./anthropic/anthropic.ts";
import { assemblyAiLiveWire } from "./assemblyai/assemblyai-live.ts";
import { assemblyAiWires } from "./assemblyai/assemblyai.ts";
import { compatibleWire } from "./openai/compatible.ts";
import { DIALECTS } from "./openai/dialects.ts";
import { deepgramLiveWire } from "./deepgram/deepgram-live.ts";
import { deepgramKeyWire, deepgramWire } from "./deepgram/deepgram.ts";
import { geminiGenerationWire, geminiInteractionWire, isAudioGeneration } from "./google/gemini-audio.ts";
import { geminiChatWire } from "./google/gemini-chat.ts";
import { geminiModelsListWire } from "./google/gemini-model-list.ts";
import { googleSpeechWires } from "./google/google-speech.ts";
import { openAiWire } from "./openai/openai-audio.ts";
import { openAiLiveWire } from "./openai/openai-live.ts";
import { CHAT_DIALECTS, openAiChatWire } from "./openai/openai-chat.ts";
import { compatibleModelsWire, LISTING_DIALECTS, openAiModelsWire } from "./openai/openai-model-list.ts";
import { elevenLabsLiveWire } from "./elevenlabs/elevenlabs-live.ts";
import { elevenLabsWires } from "./elevenlabs/elevenlabs.ts";
import type { LiveWire } from "./wire/live-wire.ts";
import { WHISPER_CPP_STARTS, whisperCppBareAnswer } from "./openai/whisper-cpp.ts";
import type { Wire, WireAnswer } from "./wire/wire.ts";

const TASKS = { transcriptions: "transcribe", translations: "translate" } as const;

/** Keyed by HTTP method. */
type Methods = Readonly<Partial<Record<string, Wire>>>;

export interface Endpoints {
  readonly find: (path: string) => Methods | null;
  readonly findLive: (path: string) => LiveWire | null;
  /** Answers of a server to paths that are no provider's protocol. Null: it has none. */
  readonly bareAnswer: (method: string, path: string) => WireAnswer | null;
}

/** Created per server, because some protocols store what they receive. */
export function createEndpoints(): Endpoints {
  const assemblyAi = assemblyAiWires();
  const elevenLabs = elevenLabsWires();
  const googleSpeech = googleSpeechWires();
  const exact: ReadonlyMap<string, Methods> = new Map<string, Methods>([
    ["/deepgram/v1/listen", { POST: deepgramWire }],
    ["/deepgram/v1/auth/token", { GET: deepgramKeyWire }],
    ["/assemblyai/v2/upload", { POST: assemblyAi.upload }],
    ["/assemblyai/v2/transcript", { POST: assemblyAi.submit, GET: assemblyAi.list }],
    ["/anthropic/v1/messages", { POST: anthropicWire }],
    ["/anthropic/v1/models", { GET: anthropicModelsWire }],
    ["/gemini/v1beta/models", { GET: geminiModelsListWire }],
    ["/gemini/v1beta/interactions", { POST: geminiInteractionWire() }],
    ["/elevenlabs/v1/speech-to-text", { POST: elevenLabs.submit }],
    ["/elevenlabs/v1/models", { GET: elevenLabs.models }],
    ...openAiEndpoints(),
    ["/openai/v1/models", { GET: openAiModelsWire }],
    ...LISTING_DIALECTS.map((dialect): [string, Methods] => [
      `/compatible/${dialect}/v1/models`,
      { GET: compatibleModelsWire(dialect) },
    ]),
    ["/openai/v1/chat/completions", { POST: openAiChatWire(null) }],
    ...CHAT_DIALECTS.map((dialect): [string, Methods] => [
      `/compatible/${dialect}/v1/chat/completions`,
      { POST: openAiChatWire(dialect) },
    ]),
  ]);
  const byPrefix: readonly (readonly [string, Methods])[] = [
    ["/gemini/v1beta/models/", { POST: geminiModelsWire() }],
    ["/assemblyai/v2/transcript/", { GET: assemblyAi.poll, DELETE: assemblyAi.remove }],
    ["/elevenlabs/v1/speech-to-text/transcripts/", { GET: elevenLabs.poll, DELETE: elevenLabs.remove }],
  ];
  return {
    find: (path) => exact.get(path) ?? byPrefix.find(([prefix]) => path.startsWith(prefix))?.[1] ?? googleSpeech(path),
    findLive: (path) => LIVE.get(path) ?? null,
    bareAnswer: whisperCppBareAnswer,
  };
}

/** One path for chat and for transcription. */
function geminiModelsWire(): Wire {
  const audio = geminiGenerationWire();
  return {
    ...geminiChatWire,
    ...(audio.audioOf === undefined ? {} : { audioOf: audio.audioOf }),
    answer: (input, alteration) => (isAudioGeneration(input.json) ? audio : geminiChatWire).answer(input, alteration),
  };
}

function openAiEndpoints(): [string, Methods][] {
  return Object.entries(TASKS).flatMap(([name, task]) => {
    const compatible = DIALECTS.flatMap((dialect): [string, Methods][] => {
      const wire = compatibleWire(dialect, task);
      if (wire === null) return [];
      if (dialect === "whisper-cpp")
        return Object.entries(WHISPER_CPP_STARTS).map(([prefix, path]) => [`${prefix}${path}`, { POST: wire }]);
      return [[`/compatible/${dialect}/v1/audio/${name}`, { POST: wire }]];
    });
    return [[`/openai/v1/audio/${name}`, { POST: openAiWire({ name: "openai", task }) }], ...compatible];
  });
}

const LIVE: ReadonlyMap<string, LiveWire> = new Map([
  ["/deepgram/v1/listen", deepgramLiveWire],
  ["/assemblyai/v3/ws", assemblyAiLiveWire],
  ["/openai/v1/realtime", openAiLiveWire],
  ["/elevenlabs/v1/speech-to-text/realtime", elevenLabsLiveWire],
]);
