// The OpenAI-compatible speech servers that the sandbox simulates.

export const DIALECTS = ["openai", "whisper-cpp", "speaches", "vllm", "groq", "mistral"] as const;
export type Dialect = (typeof DIALECTS)[number];
