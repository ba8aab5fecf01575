// The requests of the examples, in an order in which each finds what it needs: every operation of both OpenAPI documents.
import assert from "node:assert/strict";
import { until } from "../harness/until.ts";
import { adminScenario } from "./admin-scenario.ts";
import type { Asking, Recorder } from "./recorder.ts";
import { type ExampleWorld, oweDeletion } from "./world.ts";
import { pagesScenario } from "./pages-scenario.ts";

const REMOTE = { audio: { url: "https://media.example.com/call.mp3" } };
const QUESTION = [{ role: "user", content: "Sum this call up in one sentence." }];

export async function runScenario(world: ExampleWorld, recorder: Recorder): Promise<void> {
  const requestId = await transcriptionScenario(recorder);
  await jobsScenario(recorder);
  await world.gateway.app.requestLog.flush();
  await oweDeletion(world.gateway, requestId);
  const ask = (operationId: string, asking?: Asking) => recorder.ask("public", operationId, asking);
  await ask("getMe");
  await ask("getLimits");
  await ask("getMyLimits");
  await ask("getRequest", { path: { request_id: requestId } });
  await ask("getUsage", { query: { group_by: "day,purpose" } });
  await ask("getUsage", { accept: "text/csv" });
  await adminScenario(recorder, requestId);
  await pagesScenario(recorder);
}

/** Returns the id of the first request. */
async function transcriptionScenario({ ask: askOn }: Recorder): Promise<string> {
  const ask = (operationId: string, asking?: Asking) => askOn("public", operationId, asking);
  const form = { file: "call.mp3", diarization: true, timestamps: "word", language: "en" };
  const { requestId } = await ask("createTranscription", { form });
  await ask("createTranscription", { json: { ...REMOTE, diarization: true, timestamps: "word", purpose: "meetings" } });
  for (const accept of ["text/plain", "application/x-subrip", "text/vtt"])
    await ask("createTranscription", { form: { file: "call.mp3" }, accept });
  await ask("createTranslation", { form: { file: "call.mp3", to_language: "de" } });
  await ask("createTranslation", { json: { ...REMOTE, to_language: "de" } });
  await ask("createChat", { json: { messages: QUESTION, max_tokens: 200 } });
  await ask("createChatCompletion", { json: { model: "auto", messages: QUESTION } });
  await ask("createAudioTranscription", { form: { model: "auto", file: "call.mp3" } });
  await ask("createAudioTranslation", { form: { model: "auto", file: "call.mp3" } });
  await ask("listModels");
  await ask("getModel", { path: { model: "auto" } });
  await ask("getPurposeModel", { path: { purpose: "meetings" } });
  await ask("callMcp", {
    json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_purposes", arguments: {} } },
    headers: { Accept: "application/json, text/event-stream" },
  });
  await ask("createRealtimeToken");
  await ask("openRealtimeTranscription", {
    headers: {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol": "patchbay.v1",
    },
  });
  return requestId;
}

async function jobsScenario({ ask: askOn }: Recorder): Promise<void> {
  const ask = (operationId: string, asking?: Asking) => askOn("public", operationId, asking);
  const idOf = (json: unknown): string => (json as { readonly job_id: string }).job_id;
  const form = { file: "call.mp3", diarization: true };
  const short = idOf((await ask("createTranscriptionJob", { form })).json);
  const remote = idOf((await ask("createTranscriptionJob", { json: { ...REMOTE, timestamps: "word" } })).json);
  await ask("createTranscriptionJob", { form: { ...form, dry_run: true } });
  const ended = async (job: string): Promise<Readonly<Record<string, unknown>>> => {
    const asking = { path: { job_id: job }, query: { wait: "20" } };
    let last: Readonly<Record<string, unknown>> = {};
    await until(async () => {
      last = (await ask("getTranscriptionJob", asking)).json ?? {};
      return last["finished_at"] !== null;
    });
    assert.equal(last["status"], "succeeded");
    return last;
  };
  const long = idOf((await ask("createTranscriptionJob", { form: { file: "call.mp3", timestamps: "both" } })).json);
  // Lists show jobs that have ended.
  for (const job of [short, remote]) await ended(job);
  const { result_url: address } = await ended(long);
  assert.ok(typeof address === "string", "the result of the long recording is not large enough");
  await ask("getTranscriptionJobResult", { path: { token: address.split("/").at(-1) ?? "" } });
  await ask("listTranscriptionJobs", { query: { limit: "2" } });
  await ask("cancelTranscriptionJob", { path: { job_id: short } });
}
