// Simulates OpenAI-compatible speech servers with their differences [providers.sandbox-dialects]: whisper.cpp, speaches, vLLM, Groq, Mistral, or plain OpenAI.
import { OPENAI_BODY_BYTES, findWrongKey, openAiWire } from "./openai-audio.ts";
import { jsonAnswer, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";
import type { Dialect } from "./dialects.ts";
import { groqWire } from "./groq.ts";
import { mistralAnswer, mistralError } from "./mistral.ts";
import { speachesAnswer, speachesError } from "./speaches.ts";
import { vllmAnswer, vllmError } from "./vllm.ts";
import { whisperCppAnswer, whisperCppError } from "./whisper-cpp.ts";

type Task = "transcribe" | "translate";

const SELF_HOSTED_BODY_BYTES = 524_288_000;

/** Null: the server has no such endpoint. */
export function compatibleWire(dialect: Dialect, task: Task): Wire | null {
  const shared = { name: "compatible", body: "multipart" } as const;
  switch (dialect) {
    case "openai":
      return openAiWire({ name: "compatible", task });
    case "whisper-cpp":
      // The server has no keys and ignores an Authorization header.
      if (task === "translate") return null;
      return { ...shared, maxBodyBytes: SELF_HOSTED_BODY_BYTES, errorFor: whisperCppError, answer: whisperCppAnswer };
    case "speaches":
      return {
        ...shared,
        maxBodyBytes: SELF_HOSTED_BODY_BYTES,
        errorFor: speachesError,
        answer: (input, alteration) =>
          requireKey(input, jsonAnswer(401, { detail: "Invalid API key" }), () =>
            speachesAnswer(input, alteration, task),
          ),
      };
    case "groq":
      return groqWire(task);
    case "mistral":
      if (task === "translate") return null;
      return {
        ...shared,
        maxBodyBytes: SELF_HOSTED_BODY_BYTES,
        errorFor: mistralError,
        answer: (input, alteration) =>
          findWrongKey(input.headers.authorization, false) === null
            ? mistralAnswer(input, alteration)
            : Promise.resolve(jsonAnswer(401, { detail: "Unauthorized" })),
      };
    case "vllm":
      return {
        ...shared,
        maxBodyBytes: OPENAI_BODY_BYTES,
        errorFor: vllmError,
        answer: (input, alteration) =>
          requireKey(input, jsonAnswer(401, { error: "Unauthorized" }), () => vllmAnswer(input, alteration, task)),
      };
  }
}

function requireKey(input: WireInput, refusal: WireAnswer, answer: () => Promise<WireAnswer>): Promise<WireAnswer> {
  return findWrongKey(input.headers.authorization, true) === null ? answer() : Promise.resolve(refusal);
}
