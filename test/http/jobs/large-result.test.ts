// A result of more than a statement's worth of pieces comes as it was stored, by every way to it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { job as jobSchema } from "../../../src/contract/jobs.ts";
import { transcriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { get, postForm, send } from "../../harness/client.ts";
import { KEY, standardFile, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { startLongTranscripts } from "../../faults/memory/long-transcripts.ts";
import { slowWav } from "../../faults/hostile/slow-wav.ts";
import { ended, JOBS, submit } from "./jobs.ts";

const RECORDING = { file: slowWav(3_600), fields: { timestamps: "both" } };
const WORDS = 6_000;

let provider: Awaited<ReturnType<typeof startLongTranscripts>>;
before(async () => {
  provider = await startLongTranscripts(WORDS);
});
after(() => provider[Symbol.asyncDispose]());

function fileOf(sandbox: Sandbox, limits: ConfigurationFile["limits"] = {}): ConfigurationFile {
  const file = standardFile(sandbox);
  const connections = file.connections?.map((each) =>
    each.kind === "deepgram" ? { ...each, base_url: provider.url } : each,
  );
  return { ...file, limits, ...(connections === undefined ? {} : { connections }) };
}

for (const [where, inlineBytes] of [
  ["its row", 16_777_216],
  ["the object store", 64],
] as const) {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      file: (sandbox) => fileOf(sandbox, { stt_job_inline_result_bytes: inlineBytes }),
    });
  });
  after(() => gateway.close());

  test(`jobs.result-url: a large result in ${where} is the same by poll, event, export and signed URL`, async () => {
    const { origin } = gateway;
    const { job_id: id } = await submit(origin, RECORDING);
    const done = await ended(origin, id);
    const path = `${JOBS}/${id}`;
    const exported = await get(origin, `${path}?format=verbose_json`);
    assert.ok(exported.text.length > 1_100_000, `${exported.text.length} bytes`);
    const envelope = transcriptionEnvelope.parse(exported.json);
    if (done.result_url === null) {
      assert.deepEqual(done.result, envelope);
      const events = await send(`${origin}${path}`, {
        headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" },
      });
      const event = jobSchema.parse(JSON.parse(/^event: job\ndata: (.*)$/mu.exec(events.text)?.[1] ?? ""));
      assert.deepEqual(event, done);
      assert.deepEqual(
        (await send(`${origin}${path}`, { method: "DELETE", headers: { authorization: `Bearer ${KEY}` } })).json,
        done,
      );
    } else {
      assert.equal(done.result, null);
      assert.deepEqual((await get(origin, done.result_url)).json, envelope);
    }
    const head = await fetch(`${origin}${path}`, { method: "HEAD", headers: { authorization: `Bearer ${KEY}` } });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });
}

test("idempotency.replay: a large answer is replayed byte for byte under its idempotency key", async () => {
  const gateway = await startGateway({ file: fileOf });
  try {
    const call = { ...RECORDING, headers: { "idempotency-key": "large-answer" } };
    const first = await postForm(gateway.origin, call);
    const again = await postForm(gateway.origin, call);
    assert.deepEqual([first.status, again.status], [200, 200]);
    assert.ok(first.text.length > 1_100_000, `${first.text.length} bytes`);
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
    const { rows } = await sql<{ bytes: number }>`
      select octet_length(body) as bytes from idempotency_slots where body is not null`.execute(gateway.database.db);
    assert.ok(rows.length === 1 && Number(rows[0]?.bytes) < first.text.length / 4, `${rows[0]?.bytes} bytes stored`);
  } finally {
    await gateway.close();
  }
});
