// `patchbay requests show` against a whole gateway (contract 10).
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { runCli } from "../../src/cli/run-cli.ts";
import { operations } from "../../src/operations/operations.ts";
import { requestRecord } from "../../src/contract/requests.ts";
import { postForm } from "../harness/client.ts";
import { KEY } from "../harness/gateway.ts";
import type { ChatGateway } from "../http/chat/chat-gateway.ts";
import { idOf, recordOf, SEEING_KEY, startRecordGateway } from "../http/requests/records.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
after(() => gateway.close());

async function run(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const text = { out: "", err: "" };
  const into = (name: "out" | "err") =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text[name] += chunk.toString();
        done();
      },
    });
  const nothing = async (): Promise<number> => 0;
  const code = await runCli(argv, {
    up: nothing,
    work: nothing,
    operations,
    env: {},
    stdout: into("out"),
    stderr: into("err"),
  });
  return { code, ...text };
}

test("contract 10: the record in lines: the summary first, then each target and each call", async () => {
  const answer = await postForm(gateway.origin, { fields: { timestamps: "word" } });
  await recordOf(gateway, answer);
  const show = (key: string, ...more: readonly string[]) =>
    run("requests", "show", idOf(answer), "--url", gateway.origin, "--api-key", key, ...more);
  const seen = await show(SEEING_KEY);
  assert.deepEqual([seen.code, seen.err], [0, ""]);
  assert.match(seen.out, /^Served by target 1 \(deepgram nova-3\)\./u);
  assert.match(seen.out, /^target {3}3 {2}openai gpt-4o-transcribe {2}left {2}lacks timestamps\.word$/mu);
  assert.match(seen.out, /^call {5}1 {2}succeeded {2}metered/mu);
  assert.doesNotMatch((await show(KEY)).out, /deepgram|openai/u);
  requestRecord.parse(JSON.parse((await show(KEY, "--json")).out));
});

test("contract 10: a request that is not there is exit code 4", async () => {
  const shown = await run("requests", "show", "req_none", "--url", gateway.origin, "--api-key", KEY);
  assert.equal(shown.code, 4);
  assert.match(shown.err, /NOT_FOUND/u);
});
