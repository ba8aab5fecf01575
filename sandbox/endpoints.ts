// Which path speaks which wire format. Each provider has a prefix, so that one server can stand in for all of them.
import { compatibleWire, DIALECTS } from "./compatible.ts";
import { deepgramWire } from "./deepgram.ts";
import { openAiWire } from "./openai-audio.ts";
import type { Wire } from "./wire.ts";

const TASKS = { transcriptions: "transcribe", translations: "translate" } as const;

const ENDPOINTS: ReadonlyMap<string, Wire> = new Map([["/deepgram/v1/listen", deepgramWire], ...openAiEndpoints()]);

function openAiEndpoints(): [string, Wire][] {
  return Object.entries(TASKS).flatMap(([name, task]) => {
    const compatible = DIALECTS.flatMap((dialect): [string, Wire][] => {
      const wire = compatibleWire(dialect, task);
      if (wire === null) return [];
      const endpoint: [string, Wire] = [`/compatible/${dialect}/v1/audio/${name}`, wire];
      // Where it listens unless told otherwise.
      return dialect === "whisper-cpp" ? [endpoint, [`/compatible/${dialect}/v1/inference`, wire]] : [endpoint];
    });
    return [[`/openai/v1/audio/${name}`, openAiWire({ name: "openai", task })], ...compatible];
  });
}

export const findEndpoint = (path: string): Wire | null => ENDPOINTS.get(path) ?? null;
