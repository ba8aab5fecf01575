// A stream of a transcript whose first content is late: the status line goes out with the first ping, and what comes then are events.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { configurationWith } from "../../../harness/configuration.ts";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { errorBody } from "../../../../src/contract/error-body.ts";
import { openedWithin } from "../../../../src/http/reply/late-stream.ts";
import { get } from "../../../harness/client.ts";
import { KEY, neverResting, startGateway } from "../../../harness/gateway.ts";
import { attempts, completed, deltas, names, streamForm } from "./streamed.ts";

const SILENT_KEY = "key-of-the-app-that-cannot-stream";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    routes: { speech: ["oa/gpt-4o-transcribe", "oa/gpt-4o-mini-transcribe"], whole: "oa/whisper-1" },
    apps: { notes: { key: KEY }, whole: { key: SILENT_KEY } },
  });

// Every first content is late.
const gateway = await startGateway({
  file,
  wrapGateway: (services) => ({ ...neverResting(services), statusLineMs: 0 }),
});
after(() => gateway.close());
beforeEach(async () => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  await gateway.database.db.deleteFrom("attempts").execute();
});

test("transcription.stream-status: where the first content is late, the status line and a ping go out before it, and all of the transcript after it", async () => {
  const streamed = await streamForm(gateway.origin);
  assert.ok(streamed.text.startsWith(": ping\n\n"), streamed.text.slice(0, 80));
  assert.deepEqual(names(streamed), ["transcript.delta", "transcript.completed"]);
  assert.equal(deltas(streamed).join(""), completed(streamed).content);
  assert.equal(streamed.headers.get("x-request-id")?.startsWith("req_"), true);
});

test("transcription.stream-fallback: after the status line, and until the first content, another target is tried", async () => {
  gateway.sandbox.addFault({ model: "gpt-4o-transcribe", fault: { kind: "status", status: 500 } });
  const streamed = await streamForm(gateway.origin);
  assert.ok(streamed.text.startsWith(": ping\n\n"));
  assert.equal(names(streamed).at(-1), "transcript.completed");
  assert.deepEqual(
    (await attempts(gateway)).map(([model, outcome]) => [model, outcome]),
    [
      ["gpt-4o-transcribe", "failed:server_error"],
      ["gpt-4o-mini-transcribe", "succeeded"],
    ],
  );
});

test("transcription.stream-fallback, requests.stream-error: a failure after the status line is one error event, and the request's record has its code", async () => {
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 503 } });
  const streamed = await streamForm(gateway.origin);
  assert.deepEqual(names(streamed), ["error"]);
  const { error } = errorBody.parse(streamed.events[0]?.data);
  assert.deepEqual([error.code, error.details?.["reason"]], ["NO_HEALTHY_PROVIDER", "exhausted"]);
  const id = streamed.headers.get("x-request-id") ?? "";
  const record = (await get(gateway.origin, `/v1/requests/${id}`)).json as { status: number; code: string };
  assert.deepEqual([record.status, record.code], [200, "NO_HEALTHY_PROVIDER"]);
});

test("transcription.stream-status, compatible.audio-stream: OpenAI's events come late as well, with the facts of the purpose as headers", async () => {
  const { text, headers } = await streamForm(gateway.origin, {
    path: "/v1/audio/transcriptions",
    fields: { model: "auto" },
  });
  assert.ok(text.startsWith(": ping\n\ndata: "), text.slice(0, 80));
  assert.match(text, /"type":"transcript.text.done"/u);
  assert.equal(headers.get("x-svc-simulated"), null);
});

test("transcription.stream-status: what comes within the time is awaited, its failure too; later is null", async () => {
  assert.equal(await openedWithin(Promise.resolve(1), 3_600_000), 1);
  await assert.rejects(openedWithin(Promise.reject(new Error("refused")), 3_600_000), /refused/u);
  assert.equal(await openedWithin(new Promise(() => undefined), 1), null);
});
