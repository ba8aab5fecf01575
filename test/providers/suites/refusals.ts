// How each provider words a refusal: this code in its code field, this text in its free-text fields. One place, for a
// simulated target refuses like the provider that it simulates.
import type { ContractSubject } from "./subject.ts";

type Refusal = ContractSubject["refusal"];

/** Prose alone. */
export const refusedByAssemblyAi: Refusal = (_code, text) => ({ error: text });
export const refusedByDeepgram: Refusal = (code, text) => ({ err_code: code, err_msg: text, request_id: "r-1" });
export const refusedByElevenLabs: Refusal = (code, text) => ({ detail: { status: code, message: text } });
export const refusedByGemini: Refusal = (code, text) => ({
  error: {
    code: 400,
    message: text,
    status: code,
    details: [{ "@type": "type.googleapis.com/google.rpc.Help", text }],
  },
});
export const refusedByGoogleSpeech: Refusal = (code, text) => ({
  error: { code: 400, message: text, status: code, details: [] },
});
export const refusedByOpenAi: Refusal = (code, text) => ({
  error: { message: text, type: "invalid_request_error", param: null, code },
});

/** What AssemblyAI answers to what comes before its submission. */
export const UPLOADED = { upload_url: "https://cdn.assemblyai.com/upload/u-1" };
export const beforeAssemblyAi = (path: string): unknown => (path.endsWith("/v2/upload") ? UPLOADED : undefined);
