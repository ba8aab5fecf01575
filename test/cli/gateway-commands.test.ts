// The commands of a client and of an administrator against a whole gateway (contract 3-10).
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { runCli } from "../../src/cli/run-cli.ts";
import { operations } from "../../src/operations/operations.ts";
import { chatAnswer } from "../../src/contract/chat.ts";
import { keyView } from "../../src/contract/keys.ts";
import { usageTable } from "../../src/contract/usage.ts";
import { job } from "../../src/contract/jobs.ts";
import { listedRequest } from "../../src/contract/request-list.ts";
import { requestRecord } from "../../src/contract/requests.ts";
import { postForm } from "../harness/client.ts";
import { transcriptionEnvelope } from "../../src/contract/transcription.ts";
import { TEXT } from "../harness/chat-upstream.ts";
import { KEY, OTHER_KEY } from "../harness/gateway.ts";
import type { ChatGateway } from "../http/chat/chat-gateway.ts";
import { idOf, OPERATOR_KEY, recordOf, SEEING_KEY, startRecordGateway, STRICT_KEY } from "../http/requests/records.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
after(() => gateway.close());

/** `into`: where what is printed can be read while it runs. */
async function run(
  into: { out: string } | string,
  ...more: readonly string[]
): Promise<{ code: number; out: string; err: string }> {
  const argv = typeof into === "string" ? [into, ...more] : more;
  const text = Object.assign(typeof into === "string" ? { out: "" } : into, { err: "" });
  const writer = (name: "out" | "err") =>
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
    stdout: writer("out"),
    stderr: writer("err"),
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

test("contract 10: administrators and the operator see any record of theirs, with its owner", async () => {
  const id = idOf(await postForm(gateway.origin));
  await until(async () => (await list("--json")).out.includes(id));
  for (const where of [
    ["--workspace", "acme", "--url", gateway.origin],
    ["--admin-url", gateway.adminOrigin],
  ]) {
    const shown = await run("requests", "show", id, "--api-key", OPERATOR_KEY, ...where);
    assert.match(shown.out, /^owner {4}ws_\S+ {2}app_\S+ {2}key_/mu);
    assert.match(shown.out, /deepgram nova-3/u);
  }
  const elsewhere = ["--workspace", "other", "--url", gateway.origin, "--api-key", OPERATOR_KEY];
  assert.equal((await run("requests", "show", id, ...elsewhere)).code, 4);
});

test("contract 10: a request that is not there is exit code 4", async () => {
  const shown = await run("requests", "show", "req_none", "--url", gateway.origin, "--api-key", KEY);
  assert.equal(shown.code, 4);
  assert.match(shown.err, /NOT_FOUND/u);
});

test("contract 10: the log in lines, filtered, of a workspace and of all of them; each line of JSON is one request", async () => {
  const good = idOf(await postForm(gateway.origin));
  const bad = idOf(await postForm(gateway.origin, { fields: { nonsense: "1" } }));
  await until(async () => (await list("--json")).out.includes(bad));
  const lines = (await list()).out.split("\n");
  assert.match(lines[0] ?? "", new RegExp(`^20\\S+  ${bad}  400 INVALID_REQUEST  POST /v1/transcription  `, "u"));
  assert.match(
    lines[1] ?? "",
    new RegExp(`  ${good}  200  POST /v1/transcription  deepgram  \\d+(\\.\\d+)? s audio  `, "u"),
  );
  const refused = await list("--outcome", "refused", "--limit", "1", "--json");
  assert.deepEqual(
    refused.out
      .trim()
      .split("\n")
      .map((line) => listedRequest.parse(JSON.parse(line)).id),
    [bad],
  );
  const all = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  assert.match((await run("requests", "list", ...all, "--code", "INVALID_REQUEST")).out, new RegExp(bad, "u"));
  assert.match(
    (await run("requests", "list", ...all, "--workspace", "acme", "--limit", "500")).out,
    new RegExp(good, "u"),
  );
  assert.equal((await run("requests", "list", ...all, "--from", "yesterday")).code, 2);
  assert.equal((await run("requests", "list", "--url", gateway.origin, "--api-key", KEY)).code, 3);
});

test("contract 10: tail shows what is there and each new request once, and Ctrl-C ends it with 130", async () => {
  const before = idOf(await postForm(gateway.origin));
  await until(async () => (await list("--json")).out.includes(before));
  const output = { out: "" };
  const tailing = run(
    output,
    "requests",
    "tail",
    "--url",
    gateway.origin,
    "--api-key",
    OPERATOR_KEY,
    "--workspace",
    "acme",
    "--json",
  );
  await until(() => output.out.includes(before));
  const news = [idOf(await postForm(gateway.origin)), idOf(await postForm(gateway.origin))];
  await until(() => news.every((id) => output.out.includes(id)));
  const third = idOf(await postForm(gateway.origin, { fields: { nonsense: "1" } }));
  await until(() => output.out.includes(third));
  process.emit("SIGINT");
  assert.equal((await tailing).code, 130);
  const ids = output.out
    .trim()
    .split("\n")
    // The last one tells that it was interrupted.
    .slice(0, -1)
    .map((line) => listedRequest.parse(JSON.parse(line)).id);
  assert.deepEqual(ids.slice(ids.indexOf(before)), [before, ...news, third]);
  assert.equal(new Set(ids).size, ids.length);
});

const asApp = (...argv: readonly string[]) => {
  const [command = "", ...rest] = argv;
  return run(command, ...rest, "--url", gateway.origin, "--api-key", KEY);
};

test("contract 7: chat prints the answer while it is made; a key without the scope is exit code 3", async () => {
  const asked = await asApp("chat", "Hello");
  assert.deepEqual([asked.code, asked.out], [0, `${TEXT}\n`]);
  assert.match(asked.err, /^tokens \d+ in, \d+ out$/mu);
  const whole = await asApp("chat", "Hello", "--json");
  assert.equal(chatAnswer.parse(JSON.parse(whole.out)).content, TEXT);
  const decided = await asApp("chat", "Hello", "--dry-run");
  assert.equal((JSON.parse(decided.out) as { object: string }).object, "routing.decision");
  const refused = await run("chat", "Hello", "--url", gateway.origin, "--api-key", STRICT_KEY);
  assert.equal(refused.code, 3);
});

test("contract 3: translate prints the translation, into another language only where a target can", async () => {
  const translated = await asApp("translate", "--sample", "--json");
  assert.equal(translated.code, 0, translated.err);
  const envelope = transcriptionEnvelope.parse(JSON.parse(translated.out));
  assert.equal(envelope.object, "translation");
  assert.equal((await asApp("translate", "--sample", "--format", "text")).out, `${envelope.content}\n`);
  assert.equal((await asApp("translate", "--sample", "--to-language", "de")).code, 7);
});

test("contract 5: a job submitted, waited for, fetched in any form, listed; its metadata comes back", async () => {
  const submitted = await asApp("jobs", "submit", "--sample", "--metadata", "case=47=11", "--metadata", "desk=2");
  assert.equal(submitted.code, 0, submitted.err);
  const id = submitted.out.trim();
  assert.match(submitted.err, new RegExp(`next: patchbay jobs wait ${id}`, "u"));
  const waited = await asApp("jobs", "wait", id);
  assert.match(waited.out, /^\[simulated transcript, .*\]\n$/u);
  assert.equal((await asApp("jobs", "result", id)).out, waited.out);
  assert.match((await asApp("jobs", "result", id, "--format", "srt")).out, /^1\r?\n00:00:00,/u);
  const shown = await asApp("jobs", "get", id);
  assert.match(shown.out, /^state +succeeded$/mu);
  assert.match(shown.out, /^case +47=11$/mu);
  const document = job.parse(JSON.parse((await asApp("jobs", "wait", id, "--json")).out));
  assert.deepEqual([document.job_id, document.status], [id, "succeeded"]);
  assert.match((await asApp("jobs", "ls", "--status", "succeeded")).out, new RegExp(`^${id}  succeeded `, "mu"));
  const listed = JSON.parse((await asApp("jobs", "list", "--limit", "1", "--json")).out) as { data: unknown[] };
  assert.equal(listed.data.length, 1);
  const late = await asApp("jobs", "cancel", id);
  assert.deepEqual([late.code, late.out], [0, "succeeded\n"]);
  assert.match(late.err, /had ended before/u);
});

test("contract 5: --wait prints the transcript; a job that failed is exit code 8 with its reason, a foreign one 4", async () => {
  const done = await asApp("jobs", "submit", "--sample", "--wait");
  assert.match(done.out, /^\[simulated transcript/u);
  gateway.sandbox.addFault({ fault: { kind: "status", status: 400 } });
  const failed = await asApp("jobs", "submit", "--sample", "--wait");
  gateway.sandbox.clearFaults();
  assert.equal(failed.code, 8, failed.err);
  assert.match(failed.err, /The job failed\. [A-Z_]+: .*\n.*patchbay jobs get job_/u);
  const { out } = await asApp("jobs", "list", "--status", "failed", "--json");
  const [foreign] = (JSON.parse(out) as { data: { job_id: string }[] }).data;
  for (const command of ["get", "wait", "result", "cancel"]) {
    const ran = await run("jobs", command, foreign?.job_id ?? "", "--url", gateway.origin, "--api-key", OTHER_KEY);
    assert.equal(ran.code, 4, command);
  }
});

const list = (...more: readonly string[]) =>
  run("requests", "list", "--url", gateway.origin, "--api-key", OPERATOR_KEY, "--workspace", "acme", ...more);

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await turn();
}

test("contract 2: a key made on the command line works, is listed without its secret, and is refused once revoked", async () => {
  const admin = ["--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY];
  const made = await run(
    "keys",
    "create",
    "--app",
    "notes",
    "--name",
    "from-the-terminal",
    "--scope",
    "transcribe",
    ...admin,
  );
  assert.equal(made.code, 0, made.err);
  const secret = made.out.trim();
  const id = /^key\s+(key_\S+)$/mu.exec(made.err)?.[1] ?? "";
  assert.match(made.err, /^scopes\s+transcribe$/mu);
  const audio = async () => (await postForm(gateway.origin, { key: secret })).status;
  assert.equal(await audio(), 200);
  const listed = await run("keys", "list", "--state", "active", ...admin);
  assert.match(listed.out, new RegExp(`^${id} +from-the-terminal `, "mu"));
  assert.ok(!listed.out.includes(secret));
  // Nobody is there to be asked.
  assert.equal((await run("keys", "revoke", id, ...admin)).code, 2);
  assert.equal(await audio(), 200);
  const revoked = await run("keys", "revoke", id, "--yes", ...admin);
  assert.deepEqual([revoked.code, revoked.out], [0, "revoked\n"]);
  assert.equal(await audio(), 401);
  assert.equal((await run("keys", "revoke", "key_none", "--yes", ...admin)).code, 4);
});

test("contract 2: a key rotated on the command line hands over to the new one", async () => {
  const admin = ["--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY];
  const made = keyView.parse(JSON.parse((await run("keys", "create", "--app", "notes", "--json", ...admin)).out));
  const rotated = await run("keys", "rotate", made.id, "--overlap", "0", ...admin);
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(rotated.err, new RegExp(`^replaces\\s+${made.id}$`, "mu"));
  const status = async (key: string) => (await postForm(gateway.origin, { key })).status;
  assert.deepEqual([await status(rotated.out.trim()), await status(made.secret ?? "")], [200, 401]);
});

test("contract 9: usage in lines, as CSV and as JSON; an app's key sees its own, an administrator the workspace's", async () => {
  await postForm(gateway.origin);
  const own = ["--url", gateway.origin, "--api-key", KEY];
  assert.equal((await run("usage", "--group-by", "model", ...own)).code, 3);
  const shown = await run("usage", "--group-by", "model", "--url", gateway.origin, "--api-key", SEEING_KEY);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^MODEL +PAYS +CALLS +FAILED +AUDIO S/mu);
  assert.match(shown.out, /^nova-3 +metered +\d+ /mu);
  assert.match(shown.out, /^total +metered +\d+ /mu);
  usageTable.parse(
    JSON.parse(
      (await run("usage", "--json", "--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY)).out,
    ),
  );
  assert.match((await run("usage", "--csv", "--group-by", "day", ...own)).out, /^day,/u);
  assert.equal((await run("usage", "--from", "yesterday", ...own)).code, 2);
  const nothing = await run("usage", "--from", "2020-01-01", "--to", "2020-01-02", ...own);
  assert.equal(nothing.out, "Nothing was used from 2020-01-01T00:00:00.000Z until 2020-01-03T00:00:00.000Z.\n");
});
