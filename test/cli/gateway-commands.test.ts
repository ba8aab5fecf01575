// The commands of a client and of an administrator against a whole gateway.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { after, before, test, type TestContext } from "node:test";
import { addressIn } from "../../src/console/address.ts";
import { samplePath } from "../../src/cli/package-root.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { chatAnswer } from "../../src/contract/chat/chat-answer.ts";
import { connectionTest } from "../../src/contract/admin/connection-test.ts";
import { connectionView } from "../../src/contract/admin/connections.ts";
import { keyView } from "../../src/contract/admin/keys.ts";
import { workspaceUsage } from "../../src/contract/usage.ts";
import { job } from "../../src/contract/jobs.ts";
import { retirementView } from "../../src/contract/admin/retirements.ts";
import { pauseView, resumption } from "../../src/contract/admin/pauses.ts";
import { providerHealth } from "../../src/contract/admin/provider-health.ts";
import { listedRequest } from "../../src/contract/admin/request-list.ts";
import { audioUrlCheck } from "../../src/contract/admin/audio-url-check.ts";
import { sandboxFaults } from "../../src/contract/admin/sandbox-faults.ts";
import { requestRecord } from "../../src/contract/requests.ts";
import { routingDecision, transcriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { deliveryView, webhookView } from "../../src/contract/webhook.ts";
import { assignableModels } from "../../src/contract/admin/workspace-models.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";
import { missingLine } from "../guides/run-guide.ts";
import { postForm } from "../harness/client.ts";
import { TEXT } from "../harness/chat-upstream.ts";
import { setClock, shiftClock } from "../harness/postgres/database.ts";
import { KEY, OTHER_KEY } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { operations } from "./fake-gateway.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import type { ChatGateway } from "../http/chat/chat-gateway.ts";
import {
  ADMIN_KEY,
  idOf,
  OPERATOR_KEY,
  recordOf,
  SEEING_KEY,
  startRecordGateway,
  STRICT_KEY,
} from "../http/requests/records.ts";

let gateway: ChatGateway;
const internet = pretendInternet();
before(async () => {
  gateway = await startRecordGateway({ network: internet });
});
after(() => gateway.close());

/** What the next command reads. */
let stdin = "";
/** Where commands are called. */
let cwd: string | undefined;

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
    ...(cwd === undefined ? {} : { cwd }),
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: writer("out"),
    stderr: writer("err"),
  });
  return { code, ...text };
}

test("requests.provider-error, requests.answered-model: requests show and route explain --request print the provider's reason and the model that answered", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "other_model", name: "nova-2" } });
  const body = JSON.stringify({ error: { message: "No such deployment.", code: "deployment_missing" } });
  gateway.sandbox.addFault({ wire: "openai", times: 1, fault: { kind: "status", status: 500, body } });
  const answer = await postForm(gateway.origin);
  await recordOf(gateway, answer);
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  for (const [command, ...rest] of [
    ["requests", "show"],
    ["route", "explain", "--request"],
  ] as const) {
    const { out, err } = await run(command, ...rest, idOf(answer), ...admin);
    assert.equal(err, "");
    assert.match(out, /^receipts +1 {2}model \(answered by general-nova-2 nova-2 /mu);
    assert.match(out, /^provider +2 {2}HTTP 500 {2}deployment_missing .*No such deployment\.$/mu);
  }
});

test("cli.requests: the record in lines: the summary first, then each target and each call", async () => {
  const answer = await postForm(gateway.origin, { fields: { timestamps: "word" } });
  await recordOf(gateway, answer);
  const show = (key: string, ...more: readonly string[]) =>
    run("requests", "show", idOf(answer), "--url", gateway.origin, "--api-key", key, ...more);
  const seen = await show(SEEING_KEY);
  assert.deepEqual([seen.code, seen.err], [0, ""]);
  assert.match(seen.out, /^Served by target 1 \(deepgram nova-3\)\./u);
  assert.match(seen.out, /^target +3 {2}openai gpt-4o-transcribe {2}skipped {2}lacks timestamps\.word$/mu);
  assert.match(seen.out, /^route +speech, version \d+$/mu);
  assert.match(seen.out, /^call +1 {2}deepgram nova-3 {2}succeeded {2}\d+(\.\d+)? s {2}metered/mu);
  assert.match(seen.out, /^receipts +1 {2}timestamps\.word \(shown\), /mu);
  assert.match(seen.out, /^idempotency +not sent$/mu);
  const blind = await show(KEY);
  assert.doesNotMatch(blind.out, /deepgram|openai/u);
  assert.match(blind.err, /^Names of providers need a key with the scope routing:read/u);
  requestRecord.parse(JSON.parse((await show(KEY, "--json")).out));
});

test("cli.records-scope: administrators and the operator see any record of theirs, with its owner", async () => {
  const id = idOf(await postForm(gateway.origin));
  await until(async () => (await list("--json")).out.includes(id));
  for (const where of [
    ["--workspace", "acme", "--url", gateway.origin],
    ["--admin-url", gateway.adminOrigin],
  ]) {
    const shown = await run("requests", "show", id, "--api-key", OPERATOR_KEY, ...where);
    assert.match(shown.out, where.includes("--workspace") ? /^workspace +ws_/mu : /^workspace +acme {2}ws_/mu);
    assert.match(shown.out, /^app +notes {2}app_/mu);
    assert.match(shown.out, /^api key +notes {2}key_/mu);
    assert.match(shown.out, /deepgram nova-3/u);
    const [, link = ""] = /^console +(\S+)$/mu.exec(shown.out) ?? [];
    const page = await fetch(link);
    assert.deepEqual([page.status, page.headers.get("content-type")?.startsWith("text/html")], [200, true], link);
    await page.body?.cancel();
    const { workspace, screen, path } = addressIn(new URL(link).hash);
    assert.deepEqual([workspace, screen, path], [where.includes("--workspace") ? "acme" : null, "requests", [id]]);
    assert.ok(readFileSync("src/console/screens.ts", "utf8").includes(`name: "${screen}"`));
  }
  const elsewhere = ["--workspace", "other", "--url", gateway.origin, "--api-key", OPERATOR_KEY];
  const refused = await run("requests", "show", id, ...elsewhere);
  assert.equal(refused.code, 4);
  assert.match(refused.err, /^ {2}an administrator's key shows the requests of its workspace$/mu);
  assert.match(
    refused.err,
    new RegExp(`^ {2}the operator's key shows all: patchbay requests show ${id} --admin-url`, "mu"),
  );
});

test("cli.records-scope: requests show needs no place for the keys of an administrator and of the operator", async (t) => {
  const id = idOf(await postForm(gateway.origin));
  await until(async () => (await list("--json")).out.includes(id));
  const show = (key: string, ...more: readonly string[]) => run("requests", "show", id, "--api-key", key, ...more);
  const admin = await show(ADMIN_KEY, "--url", gateway.origin);
  assert.equal(admin.code, 0, admin.err);
  assert.match(admin.out, /^app +notes {2}app_/mu);
  assert.match(admin.out, /^console +\S+#\/w\/acme\/requests\/req_/mu);
  const unknown = await run("requests", "show", "req_none", "--api-key", ADMIN_KEY, "--url", gateway.origin);
  assert.equal(unknown.code, 4);
  assert.match(unknown.err, /NOT_FOUND/u);
  // The public address of another gateway says nothing about its admin listener.
  const elsewhere = await show(OPERATOR_KEY, "--url", gateway.origin);
  assert.equal(elsewhere.code, 3, elsewhere.err);
  assert.match(elsewhere.err, /the operator's key shows all: patchbay requests show req_\S+ --admin-url URL/u);
  const [port, adminPort] = [gateway.origin, gateway.adminOrigin].map((url) => Number(new URL(url).port));
  cwd = mkdtempSync(join(tmpdir(), "patchbay-here-"));
  t.after(() => {
    rmSync(cwd ?? "", { recursive: true });
    cwd = undefined;
  });
  writeFileSync(join(cwd, "patchbay.yaml"), JSON.stringify({ server: { port, admin: { port: adminPort } } }));
  const operator = await show(OPERATOR_KEY);
  assert.equal(operator.code, 0, operator.err);
  assert.match(operator.out, /^workspace +acme {2}ws_/mu);
  // An app's key still shows nothing of another app.
  assert.equal((await show(STRICT_KEY)).code, 4);
  // Of the keys that a gateway saved here, the app's is asked first.
  mkdirSync(join(cwd, "data"));
  writeFileSync(join(cwd, "data", "cli-key"), STRICT_KEY);
  const saved = await run("requests", "show", id);
  assert.equal(saved.code, 4);
  assert.match(saved.err, /NOT_FOUND/u);
  writeFileSync(join(cwd, "data", "operator-key"), OPERATOR_KEY);
  const bySaved = await run("requests", "show", id);
  assert.equal(bySaved.code, 0, bySaved.err);
  assert.match(bySaved.out, /^workspace +acme {2}ws_/mu);
});

test("cli.exit-codes: a request that does not exist is exit code 4", async () => {
  const shown = await run("requests", "show", "req_none", "--url", gateway.origin, "--api-key", KEY);
  assert.equal(shown.code, 4);
  assert.match(shown.err, /NOT_FOUND/u);
  assert.match(
    shown.err,
    /^ {2}an app's key shows the requests of its app, an administrator's those of its workspace$/mu,
  );
});

test("cli.requests, cli.records-scope: the log in lines, filtered, of one workspace and of all; each line of JSON is one request", async () => {
  const good = idOf(await postForm(gateway.origin));
  const bad = idOf(await postForm(gateway.origin, { fields: { nonsense: "1" } }));
  await until(async () => (await list("--json")).out.includes(bad));
  const lines = (await list()).out.split("\n");
  assert.match(lines[0] ?? "", new RegExp(`^20\\S+  ${bad}  400 INVALID_REQUEST  POST /v1/transcription  `, "u"));
  assert.match(
    lines[1] ?? "",
    new RegExp(`  ${good}  200  POST /v1/transcription  deepgram nova-3  \\d+(\\.\\d+)? s audio  `, "u"),
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
  const own = await run("requests", "list", "--url", gateway.origin, "--api-key", OPERATOR_KEY);
  assert.deepEqual([own.code, own.out], [0, ""]);
  assert.match(
    own.err,
    /^No matching requests in the workspace \S+\.\n.*\n.*--workspace WORKSPACE; .*--admin-url URL\n$/u,
  );
  const none = await list("--app", "app_none", "--json");
  assert.deepEqual([none.code, none.out], [0, ""]);
  assert.match(none.err, /^No matching requests in the workspace acme\.\n/u);
});

test("cli.requests, cli.interrupt: tail prints the latest requests and each new one once, and Ctrl-C ends it with 130", async () => {
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
  const newIds = [idOf(await postForm(gateway.origin)), idOf(await postForm(gateway.origin))];
  await until(() => newIds.every((id) => output.out.includes(id)));
  const third = idOf(await postForm(gateway.origin, { fields: { nonsense: "1" } }));
  await until(() => output.out.includes(third));
  process.emit("SIGINT");
  assert.equal((await tailing).code, 130);
  const ids = output.out
    .trim()
    .split("\n")
    // The last one reports that it was interrupted.
    .slice(0, -1)
    .map((line) => listedRequest.parse(JSON.parse(line)).id);
  assert.deepEqual(ids.slice(ids.indexOf(before)), [before, ...newIds, third]);
  assert.equal(new Set(ids).size, ids.length);
});

const asApp = (...argv: readonly string[]) => {
  const [command = "", ...rest] = argv;
  return run(command, ...rest, "--url", gateway.origin, "--api-key", KEY);
};

test("cli.stream-output, cli.exit-codes: chat prints the answer as it arrives; a key without the scope is exit code 3", async () => {
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

test("cli.translate: translate prints the translation, into another language only where a target can do it", async () => {
  const translated = await asApp("translate", "--sample", "--json");
  assert.equal(translated.code, 0, translated.err);
  const envelope = transcriptionEnvelope.parse(JSON.parse(translated.out));
  assert.equal(envelope.object, "translation");
  assert.equal((await asApp("translate", "--sample", "--format", "text")).out, `${envelope.content}\n`);
  assert.equal((await asApp("translate", "--sample", "--to-language", "de")).code, 7);
});

test("cli.jobs: a job is submitted, waited for, fetched in any form and listed, and its metadata is returned", async () => {
  const submitted = await asApp("jobs", "submit", "--sample", "--metadata", "case=47=11", "--metadata", "desk=2");
  assert.equal(submitted.code, 0, submitted.err);
  const id = submitted.out.trim();
  assert.match(submitted.err, new RegExp(`next: patchbay jobs wait ${id}`, "u"));
  const waited = await asApp("jobs", "wait", id);
  assert.match(waited.out, /^Good morning, .* Thank you\.\n$/u);
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
  assert.match(late.err, /had already ended/u);
});

test("cli.simulated-mark: lists of jobs and requests mark what the sandbox answered, and not what a provider did", async () => {
  const made = await asAdmin("keys", "create", "--app", "notes", "--mode", "test", "--scope", "jobs");
  const asTest = (...command: readonly string[]) =>
    run(...(command as [string]), "--url", gateway.origin, "--api-key", made.out.trim());
  const ended = await asTest("jobs", "submit", "--sample", "--wait", "--json");
  assert.equal(ended.code, 0, ended.err);
  const { job_id: id, simulated } = job.parse(JSON.parse(ended.out));
  assert.equal(simulated, true);
  assert.match((await asTest("jobs", "ls")).out, new RegExp(`^${id}  succeeded \\(simulated\\) `, "mu"));
  assert.match((await asTest("jobs", "get", id)).out, /^state +succeeded \(simulated\)$/mu);
  await gateway.app.requestLog.flush();
  const [latest = "", before = ""] = (await list("--limit", "2")).out.split("\n");
  assert.match(latest, /POST \/v1\/transcription\/jobs {2}simulated {2}/u);
  assert.doesNotMatch(before, /simulated/u);
});

test("cli.jobs, cli.exit-codes: --wait prints the transcript; a failed job is exit code 8 with its reason, another app's is 4", async () => {
  const done = await asApp("jobs", "submit", "--sample", "--purpose", "nowhere", "--wait");
  assert.match(done.out, /^Good morning, /u);
  assert.match(done.err, /^warning PURPOSE_NOT_APPLIED: /mu);
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

test("cli.batch, cli.batch-again, cli.batch-jobs: several files run against a whole gateway, and what was answered is not paid again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-files-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [input, out] = [join(folder, "in"), join(folder, "out")];
  mkdirSync(input);
  for (const name of ["a.mp3", "b c.mp3"]) copyFileSync(samplePath(), join(input, name));
  const outputs = () => readdirSync(out).toSorted();
  const files = (...more: readonly string[]) => asApp("transcribe", input, "--out-dir", out, ...more);
  const calls = gateway.sandbox.callCount;
  const first = await files();
  assert.equal(first.code, 0, first.err);
  assert.deepEqual(outputs(), ["a.txt", "b c.txt"]);
  assert.equal(gateway.sandbox.callCount, calls + 1, "equal contents are one request");
  rmSync(out, { recursive: true });
  const again = await files();
  assert.equal(again.err.match(/answered earlier, not paid again/gu)?.length, 2, again.err);
  const jobs = await files("--jobs", "--format", "srt");
  assert.equal(jobs.code, 0, jobs.err);
  assert.deepEqual(outputs(), ["a.srt", "a.txt", "b c.srt", "b c.txt"]);
  assert.match(readFileSync(join(out, "a.srt"), "utf8"), /^1\n00:00:/u);
  assert.equal(gateway.sandbox.callCount, calls + 2);
});

test("cli.keys: a key created on the command line works, is listed without its secret, and is refused once revoked", async () => {
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
  // Without a terminal there is no one to confirm.
  assert.equal((await run("keys", "revoke", id, ...admin)).code, 2);
  assert.equal(await audio(), 200);
  const revoked = await run("keys", "revoke", id, "--yes", ...admin);
  assert.deepEqual([revoked.code, revoked.out], [0, "revoked\n"]);
  assert.equal(await audio(), 401);
  assert.equal((await run("keys", "revoke", "key_none", "--yes", ...admin)).code, 4);
});

test("cli.keys: a rotated key hands over to the new one", async () => {
  const admin = ["--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY];
  const made = keyView.parse(JSON.parse((await run("keys", "create", "--app", "notes", "--json", ...admin)).out));
  const rotated = await run("keys", "rotate", made.id, "--overlap", "0", ...admin);
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(rotated.err, new RegExp(`^replaces\\s+${made.id}$`, "mu"));
  const status = async (key: string) => (await postForm(gateway.origin, { key })).status;
  assert.deepEqual([await status(rotated.out.trim()), await status(made.secret ?? "")], [200, 401]);
});

test("cli.usage: usage in lines, as CSV and as JSON; an app's key sees its own, an administrator's the workspace's", async () => {
  await postForm(gateway.origin);
  const own = ["--url", gateway.origin, "--api-key", KEY];
  assert.equal((await run("usage", "--group-by", "model", ...own)).code, 3);
  const shown = await run("usage", "--group-by", "model", "--url", gateway.origin, "--api-key", SEEING_KEY);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^MODEL +BILLING +CALLS +FAILED +AUDIO S/mu);
  assert.match(shown.out, /^nova-3 +metered +\d+ /mu);
  assert.match(shown.out, /^total +metered +\d+ /mu);
  const asOperator = ["--api-key", OPERATOR_KEY];
  const byApp = await run("usage", "--group-by", "app", "--workspace", "acme", "--url", gateway.origin, ...asOperator);
  assert.match(byApp.out, /^notes +metered +\d+ /mu);
  const all = await run("usage", "--group-by", "workspace,app", "--admin-url", gateway.adminOrigin, ...asOperator);
  assert.match(all.out, /^acme +notes +metered +\d+ /mu);
  const nowhere = await run("usage", "--url", gateway.origin, ...asOperator);
  assert.equal(nowhere.code, 3);
  assert.match(nowhere.err, /^ {2}one workspace: --workspace WORKSPACE\n {2}all of them: --admin-url/mu);
  const ofAcme = ["--workspace", "acme", "--url", gateway.origin, ...asOperator];
  const administrator = await run("keys", "create", "--role", "admin", "--name", "on-call", "--json", ...ofAcme);
  const { secret } = keyView.parse(JSON.parse(administrator.out));
  const ofAdministrator = await run("usage", "--group-by", "app", "--url", gateway.origin, "--api-key", secret ?? "");
  assert.match(ofAdministrator.err, /^usage of the workspace acme\n/u);
  assert.equal(ofAdministrator.out, byApp.out);
  workspaceUsage.parse(
    JSON.parse(
      (await run("usage", "--json", "--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY)).out,
    ),
  );
  assert.match((await run("usage", "--csv", "--group-by", "day", ...own)).out, /^day,/u);
  const budget = "/workspace/acme/apps/notes/budgets/month";
  const limits = '{"limit_audio_seconds":100,"soft_limit":0.05}';
  assert.equal((await api(OPERATOR_KEY, "PUT", budget, "--data", limits)).code, 0);
  await setClock(gateway.database, "2026-11-02T00:00:00Z");
  assert.match((await run("usage", ...own)).err, /^budget \(month\) {2}\[\.{20}\] 0 % 0 of 100 s of audio$/mu);
  await postForm(gateway.origin);
  await setClock(gateway.database, "2026-11-03T00:00:00Z");
  const line =
    "[#...................] 7 % 7.378 of 100 s of audio; forecast: 111 s of audio by 2026-12-01 00:00 UTC; limit will be reached 2026-11-28 02:34 UTC; soft limit of 5 % reached";
  assert.ok((await run("usage", ...own)).err.includes(`budget (month)  ${line}\n`));
  const ofWorkspace = await run("usage", "--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY);
  assert.match(ofWorkspace.err, /^budget \(month\) of notes {2}/mu);
  assert.ok(ofWorkspace.err.includes(`  ${line}\n`));
  await shiftClock(gateway.database, 0);
  assert.equal((await api(OPERATOR_KEY, "DELETE", budget)).code, 0);
  assert.equal((await run("usage", "--from", "yesterday", ...own)).code, 2);
  const nothing = await run("usage", "--from", "2020-01-01", "--to", "2020-01-02", ...own);
  assert.equal(nothing.out, "No usage from 2020-01-01T00:00:00.000Z until 2020-01-03T00:00:00.000Z.\n");
});

const asAdmin = (...argv: readonly string[]) => {
  const [command = "", ...rest] = argv;
  return run(command, ...rest, "--workspace", "acme", "--url", gateway.origin, "--api-key", OPERATOR_KEY);
};

test("cli.webhooks: a webhook is set, tested, listed, redelivered, verified and removed from the command line", async (t) => {
  const hostile = "no\u001b[2Jted";
  const received: { readonly headers: Readonly<Record<string, unknown>>; readonly body: string }[] = [];
  let status = 204;
  const receiver = await httpServer(t, async (request, response) => {
    received.push({ headers: request.headers, body: (await readAll(request)).toString() });
    response.writeHead(status).end(status === 204 ? undefined : hostile);
  });
  internet.name("receiver.example", ["93.184.216.34"]);
  internet.server("93.184.216.34", receiver);
  const unset = await asAdmin("webhooks", "show");
  assert.equal(unset.code, 4);
  assert.match(unset.err, /Set one: .*`patchbay webhooks set URL`/u);
  const set = await asAdmin("webhooks", "set", "https://receiver.example/hooks");
  assert.equal(set.code, 0, set.err);
  const secret = set.out.trim();
  assert.match(secret, /^whsec_\S{44}$/u);
  assert.ok(!set.err.includes(secret));
  const shown = await asAdmin("webhooks", "show");
  assert.match(shown.out, /^url +https:\/\/receiver\.example\/hooks\nstate +enabled\nsecret +ends in /u);
  // Base64 may end in characters that a pattern takes for its own.
  assert.ok(shown.out.endsWith(`ends in ${secret.slice(-4)}\n`), shown.out);
  assert.equal(webhookView.parse(JSON.parse((await asAdmin("webhooks", "show", "--json")).out)).enabled, true);

  const tested = await asAdmin("webhooks", "test");
  assert.match(tested.out, /^delivered: HTTP 204, \d+ ms\n$/u, tested.err);
  const [first] = received;
  assert(first !== undefined);
  const check = async (...more: readonly string[]) => {
    const headers = Object.entries(first.headers).filter(([name]) => name.startsWith("x-svc-webhook-"));
    return run(
      "webhooks",
      "verify",
      ...headers.flatMap(([name, value]) => ["-H", `${name}: ${String(value)}`]),
      ...more,
    );
  };
  stdin = first.body;
  const valid = await check("--secret", secret);
  assert.match(valid.out, /^OK: transcription\.job\.succeeded {2}job_/u, valid.err);
  assert.equal((JSON.parse((await check("--secret", secret, "--json")).out) as { ok: boolean }).ok, true);
  const foreign = await check("--secret", `${secret}x`);
  assert.deepEqual([foreign.code, foreign.out], [1, ""]);
  assert.match(foreign.err, /signature does not match this body/u);
  stdin = `${first.body} `;
  const altered = await check("--secret", secret, "--json");
  assert.deepEqual(JSON.parse(altered.out), { ok: false, reason: "wrong_signature" });
  assert.equal((await check()).code, 2, "no secret");
  stdin = "";

  status = 500;
  const failed = await asAdmin("webhooks", "test");
  assert.equal(failed.code, 7);
  assert.match(failed.err, /did not accept it: HTTP 500, \d+ ms\..*\n.*response: no.?\[2Jted/u);
  assert.ok(!failed.err.includes("\u001b"), "what it says acts nowhere");
  status = 204;
  const listed = await asAdmin("webhooks", "list");
  assert.match(listed.out, /^whd_\S+ +failed .* HTTP 500, \d+ ms .* succeeded \(test\) /mu);
  const { data } = JSON.parse((await asAdmin("webhooks", "list", "--status", "failed", "--json")).out) as {
    data: unknown[];
  };
  const [one] = data.map((each) => deliveryView.parse(each));
  assert(one !== undefined);
  const again = await asAdmin("webhooks", "redeliver", one.id);
  assert.deepEqual([again.code, again.out], [0, `${one.id}\n`]);
  await until(() => received.length === 3);
  assert.equal((await asAdmin("webhooks", "redeliver")).code, 2);
  assert.equal((await asAdmin("webhooks", "redeliver", "whd_none")).code, 4);
  const none = await asAdmin("webhooks", "redeliver", "--failed", "--from", "2020-01-01T00:00:00Z", "--json");
  assert.deepEqual(JSON.parse(none.out), { object: "list", data: [] }, "tests are not sent again by themselves");

  assert.equal((await asAdmin("webhooks", "remove")).code, 2, "without a terminal there is no one to confirm");
  assert.equal((await asAdmin("webhooks", "remove", "--yes")).out, "removed\n");
  assert.equal((await asAdmin("webhooks", "test")).code, 4);
});

test("cli.audio-url: audio-url check prints each rule, and its exit code is the result; the operator sees what was found", async (t) => {
  const set = (domains: readonly string[]) =>
    api(OPERATOR_KEY, "PUT", "/workspace/acme/audio-url-domains", "--data", JSON.stringify({ domains }));
  assert.equal((await set(["media.example", "*.inside.example"])).code, 0);
  t.after(() => set([]));
  internet.name("media.example", ["93.184.216.34"]);
  internet.name("a.inside.example", ["10.0.0.7"]);
  const good = await asAdmin("audio-url", "check", "https://media.example/a.wav?sig=1");
  assert.equal(good.code, 0, good.err);
  assert.match(
    good.out,
    /^(yes {2}.*\n){7}listed as media\.example, by the workspace\nresolves to 93\.184\.216\.34\n$/u,
  );
  const inside = await asAdmin("audio-url", "check", "https://a.inside.example/");
  assert.equal(inside.code, 2);
  assert.match(inside.out, /^NO +Its host has public addresses only\.\n.*\n {5}found: private 10\.0\.0\.7$/mu);
  assert.match(inside.err, /A request with this URL is rejected: address_not_public\./u);
  const json = await asAdmin("audio-url", "check", "http://media.example/", "--json");
  assert.deepEqual([json.code, audioUrlCheck.parse(JSON.parse(json.out)).reason], [2, "scheme"]);
});

test("cli.providers-models, providers.not-offered: providers models prints status, evidence, end and successors of each model", async () => {
  const { out, err, code } = await asAdmin("providers", "models", "--all", "--capability", "audio_input");
  assert.equal(code, 0, err);
  assert.match(out, /^CONNECTION +PROVIDER +MODEL +STATUS +VERIFIED +DEPRECATED +ENDS +REPLACED BY +SOURCE$/mu);
  assert.match(
    out,
    /^oa +openai +whisper-1 +ends in 92 days +2026-11-13 +2026-08-26 +2027-02-26 +gpt-transcribe \(without /mu,
  );
  assert.match(out, /^- +elevenlabs +scribe_v1 +retired /mu);
  assert.match(out, / gemini-2\.5-flash +deprecated .* answered by gemini-3\.5-flash-lite \(second-hand\)/u);
  assert.match(out, / gemini-3\.5-transcribe-live +current, not offered here since 2026-11-27 +2026-11-12 /u);
  const { data } = JSON.parse((await asAdmin("providers", "models", "--json")).out) as { data: { life: unknown }[] };
  assert.ok(data.length > 0 && data.every(({ life }) => life !== undefined));
});

test("cli.providers-list: providers list prints what routes can name, with --all also what an account would add", async () => {
  const usual = await asAdmin("providers", "list", "--capability", "audio_input");
  assert.equal(usual.code, 0, usual.err);
  assert.match(usual.out, /^CONNECTION +OWNER +PROVIDER +MODEL +CAN +BILLING +STATE$/mu);
  assert.match(usual.out, /^dg +shared +deepgram +nova-3 +audio_input +metered +ready$/mu);
  assert.doesNotMatch(usual.out, /no connection|assemblyai|first/u);
  const all = await asAdmin("providers", "list", "--all", "--provider", "assemblyai", "--json");
  const { object, data } = JSON.parse(all.out) as { object: string; data: unknown[] };
  const models = assignableModels.parse({ object, data }).data;
  assert.ok(models.length > 0);
  assert.ok(models.every(({ provider, reason }) => provider === "assemblyai" && reason === "no_connection"));
  assert.equal((await run("providers", "list", "--url", gateway.origin, "--api-key", KEY)).code, 3);
});

test("retirement.cli, guides.outputs: providers retirements prints what routes lose and what would keep it, for the operator and one workspace", async () => {
  const operator = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const all = await run("providers", "retirements", ...operator);
  assert.equal(all.code, 0, all.err);
  assert.match(all.out, /^DATE +DAYS +ROUTE +OWNER +LOSES +TARGETS +EVIDENCE +APPS +REPLACEMENT$/mu);
  assert.match(all.out, /^2027-02-26 +92 +speech +shared +language \(\d+ languages\) +oa\/\S+.* +provider +\d+ +\S+/mu);
  const [shown = ""] = shownOutputs("docs/reference/retirements.md", "Retirement radar");
  assert.equal(missingLine(shown, all.out), null, all.out);
  const own = await run(
    "providers",
    "retirements",
    "--workspace",
    "acme",
    "--url",
    gateway.origin,
    "--api-key",
    OPERATOR_KEY,
    "--json",
  );
  const { data } = JSON.parse(own.out) as { data: unknown[] };
  const [first] = data.map((each) => retirementView.parse(each));
  assert.equal(first?.date, "2027-02-26", own.err);
  const none = await run("providers", "retirements", "--within", "0", ...operator);
  assert.match(none.err, /No route loses anything/u);
  assert.equal((await run("providers", "retirements", "--within", "soon", ...operator)).code, 2);
});

test("cli.purposes: purposes list prints an app's labels; test decides a request with one and calls no provider", async () => {
  const listed = await asApp("purposes", "list");
  assert.match(listed.out, /^meetings +enabled +audio_input/mu, listed.err);
  let calls = gateway.sandbox.callCount;
  const own = ["--url", gateway.origin, "--api-key", SEEING_KEY];
  const tested = await run("purposes", "test", "meetings", ...own);
  assert.equal(tested.code, 0, tested.err);
  assert.match(tested.out, /^purpose +meetings -> meetings \(\w+\)\ntarget +1 dg deepgram nova-3: eligible$/mu);
  assert.match(tested.out, /^outcome +target 1 would serve$/mu);
  const whole = await run("purposes", "test", "meetings", "--json", ...own);
  assert.equal(routingDecision.parse(JSON.parse(whole.out)).purpose.svc_applied_purpose, "meetings");
  const mistyped = await asApp("purposes", "test", "meeting");
  assert.equal(mistyped.code, 7);
  assert.match(mistyped.err, /no purpose would be applied.*\n {2}did you mean meetings\?\n.*patchbay purposes list/u);
  const served = await asApp("transcribe", "--sample", "--purpose", "meeting");
  assert.match(served.err, /^warning PURPOSE_NOT_APPLIED: .*did you mean `meetings`\?/mu);
  const refused = await asApp("transcribe", "--sample", "--purpose", "meeting", "--purpose-policy", "strict");
  assert.match(refused.err, /^error audio_purpose_unavailable: .*did you mean `meetings`\?/mu);
  calls += 1;
  const strict = await asApp("purposes", "test", "meeting", "--purpose-policy", "strict", "--json");
  assert.equal(strict.code, 7);
  assert.equal(routingDecision.parse(JSON.parse(strict.out)).outcome.code, "audio_purpose_unavailable");
  assert.match((await asApp("purposes", "test", "meetings", "--chat")).err, /would be applied/u);
  assert.equal(gateway.sandbox.callCount, calls);
});

test("cli.providers-add: providers add connects a shared or a workspace's account, its credential from stdin and never printed", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  stdin = "dg-credential-9876\n";
  const added = await run("providers", "add", "dg-more", "--kind", "deepgram", "--credential", "-", ...admin);
  assert.deepEqual([added.code, added.out], [0, "dg-more  deepgram  …9876\n"], added.err);
  const own = await asAdmin("providers", "add", "mine", "--kind", "deepgram", "--credential", "-", "--json");
  assert.equal(own.code, 0, own.err);
  assert.equal(connectionView.parse(JSON.parse(own.out)).id, "mine");
  assert.match((await asAdmin("providers", "list")).out, /^mine +workspace +deepgram +nova-3 /mu);
  for (const { out, err } of [added, own]) assert.doesNotMatch(out + err, /dg-credential/u);

  const again = await run("providers", "add", "dg-more", "--kind", "deepgram", "--credential", "-", ...admin);
  assert.equal(again.code, 5, again.err);
  const bare = await run("providers", "add", "x", "--kind", "deepgram", ...admin);
  assert.deepEqual([bare.code, bare.out], [2, ""]);
  assert.match(bare.err, /deepgram requires a credential/u);
  assert.equal((await asAdmin("providers", "add", "x", "--kind", "sandbox", ...admin.slice(0, 2))).code, 2);
  assert.equal(
    (await run("providers", "add", "x", "--kind", "sandbox", ...admin.slice(0, 2), "--api-key", KEY)).code,
    3,
  );
  stdin = '{"timeout_seconds": 7}';
  const slow = ["providers", "add", "slow", "--kind", "openai-compatible", "--base-url", "http://127.0.0.1:9/v1"];
  const settled = await run(slow[0] ?? "", ...slow.slice(1), "--settings", "-", "--json", ...admin);
  assert.equal(connectionView.parse(JSON.parse(settled.out)).timeout_seconds, 7);
});

test("cli.providers-add: providers test says whether a credential works and for what; exit code 7 and what to do if not", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const add = async (id: string, kind: string, url: string, secret: string) => {
    stdin = secret;
    const added = await run("providers", "add", id, "--kind", kind, "--base-url", url, "--credential", "-", ...admin);
    assert.equal(added.code, 0, added.err);
    assert.match(added.err, new RegExp(`^next: patchbay providers test ${id}$`, "mu"));
  };
  await add("tried", "openai", gateway.sandbox.openaiUrl, "oa-credential-1234");
  const well = await run("providers", "test", "tried", ...admin);
  assert.equal(well.code, 0, well.err);
  assert.match(
    well.out,
    /^tried +openai {2}accepted {2}GET \/models {2}HTTP 200 {2}\d+ ms\n.+ lists \d+ of the \d+ models/u,
  );
  assert.match(well.out, /^audio_input: timestamps\.word, .*keyterms \(weak\), .*\n {2}whisper-1$/mu);
  assert.match(well.out, /^chat: tools, .*\n {2}gpt-4\.1, gpt-4\.1-mini, /mu);
  assert.match(
    well.err,
    /^next: patchbay api POST \/admin\/v1\/routes --data '\{"id":"my-route",.*"connection":"tried".*\}'$/mu,
  );
  const document = connectionTest.parse(JSON.parse((await run("providers", "test", "tried", "--json", ...admin)).out));
  assert.deepEqual([document.ok, document.outcome], [true, "accepted"]);

  await add("mistaken", "deepgram", gateway.sandbox.deepgramUrl, "invalid");
  const refused = await run("providers", "test", "mistaken", ...admin);
  assert.deepEqual([refused.code, refused.out], [7, ""]);
  assert.match(refused.err, /mistaken \(deepgram\): refused\. The provider rejects the credential \(HTTP 401\)/u);
  assert.match(refused.err, /connections\/mistaken\/credential .*\n {2}then: patchbay providers test mistaken$/mu);
  const refusedJson = await run("providers", "test", "mistaken", "--json", ...admin);
  assert.equal(refusedJson.code, 7);
  assert.equal(connectionTest.parse(JSON.parse(refusedJson.out)).outcome, "refused");
  await add("closed-port", "openai-compatible", "http://127.0.0.1:9/v1", "x");
  assert.match(
    (await run("providers", "test", "closed-port", ...admin)).err,
    /unreachable\..*\n.*patchbay doctor --call/u,
  );
  await add("groq", "openai-compatible", gateway.sandbox.compatibleUrl("groq"), "gq-credential-1234");
  const groq = await run("providers", "test", "groq", ...admin);
  assert.match(groq.out, /^also listed\n {2}llama-3\.3-70b-versatile, whisper-large-v3, /mu);
  assert.match(groq.err, /^next: patchbay api GET \/admin\/v1\/connections\/groq, /mu);

  assert.equal((await run("providers", "test", "nobody", ...admin)).code, 4);
  assert.equal((await asAdmin("providers", "test", "tried")).code, 4, "a shared connection is not the workspace's");
  const own = ["--workspace", "acme", "--url", gateway.origin];
  assert.equal((await run("providers", "test", "tried", ...own, "--api-key", KEY)).code, 3);
  for (const { out, err } of [well, refused, refusedJson]) assert.doesNotMatch(out + err, /credential-1234/u);
});

test("cli.simulate: simulate lets sandbox providers fail, a number of times, and removes the faults; no other provider is affected", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const made = await asAdmin("keys", "create", "--app", "notes", "--mode", "test", "--scope", "transcribe");
  const key = made.out.trim();
  const seen = async () => (await recordOf(gateway, await postForm(gateway.origin, { key }), key)).attempts;
  const outcomes = async () => (await seen()).map(({ outcome }) => outcome);
  // Failures of earlier tests may expire during the test.
  const failures = async () => {
    const { out } = await run("providers", "check", "--json", ...admin);
    const { circuits } = JSON.parse(out) as { circuits: { connection: string; recent_failures: number }[] };
    return circuits.reduce((sum, circuit) => sum + circuit.recent_failures, 0);
  };
  const failedBefore = await failures();
  const set = await run("simulate", "503", "--provider", "deepgram", "--times", "1", ...admin);
  assert.equal(set.code, 0, set.err);
  assert.match(set.out, /^HTTP 503 +deepgram +all +1$/mu);
  assert.deepEqual(await outcomes(), ["failed:server_error", "succeeded"], "and the second target served");
  assert.match((await list()).out, / {2}\S+ nova-3 \(failed:server_error\), \S+ whisper-1 {2}/u);
  assert.deepEqual(await outcomes(), ["succeeded"], "it was for one call");
  assert.ok((await failures()) <= failedBefore, "nor is it held against an account");
  assert.match(set.err, /^next: patchbay transcribe --sample\nthen: patchbay requests show ID, /u);
  const dropped = await run("simulate", "drop", "--feature", "timestamps.word", ...admin);
  assert.match(
    dropped.err,
    /^next: patchbay transcribe --sample --timestamps word\n/u,
    "a request that meets the fault",
  );
  const more = await run("simulate", "429", "--seconds", "7", "--model", "whisper-1", "--json", ...admin);
  const { faults } = sandboxFaults.parse(JSON.parse(more.out));
  assert.deepEqual(faults, [
    { failure: { kind: "drop", feature: "timestamps.word" } },
    { model: "whisper-1", failure: { kind: "status", status: 429, retry_after_seconds: 7 } },
  ]);
  const swapped = await run("simulate", "other-model", "--answered-by", "nova-2", ...admin);
  assert.match(swapped.out, /^answered by nova-2 +all +all +until off$/mu);
  const before = gateway.sandbox.callCount;
  assert.equal((await postForm(gateway.origin, { fields: { timestamps: "word" } })).status, 200);
  assert.ok(gateway.sandbox.callCount > before, "a live key's provider is another one");
  assert.match((await run("simulate", ...admin)).out, /^drops timestamps\.word +all +all +until off$/mu);
  assert.deepEqual(JSON.parse((await run("simulate", "off", "--json", ...admin)).out), {
    object: "sandbox_faults",
    faults: [],
  });
  for (const wrong of [
    ["sloww"],
    ["drop"],
    ["garbage", "--seconds", "1"],
    ["429", "--feature", "diarization"],
    ["other-model"],
    ["empty", "--answered-by", "nova-2"],
  ])
    assert.equal((await run("simulate", ...wrong, ...admin)).code, 2, wrong.join(" "));
  assert.equal((await run("simulate", "off", "--admin-url", gateway.adminOrigin, "--api-key", KEY)).code, 3);
});

// The last ones: an account's circuit stays open.
test("cli.providers-list: providers check prints accounts and open circuits; exit code 7 while there are any", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  await postForm(gateway.origin);
  const well = await run("providers", "check", ...admin);
  assert.equal(well.code, 0, well.err);
  assert.match(well.out, /^dg +shared +deepgram +set +nova-3 +healthy +\d+ +\d+$/mu);
  assert.match(well.out, /^second +shared +openai-compatible +…cret +\S+ +(healthy|no recent calls)/mu);
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 500 } });
  for (let failures = 0; failures < 5; failures += 1) await postForm(gateway.origin);
  gateway.sandbox.clearFaults();
  const resting = await run("providers", "check", "--json", ...admin);
  assert.equal(resting.code, 7);
  const document = JSON.parse(resting.out) as { object: string; circuits: { state: string }[] };
  assert.ok(document.object === "provider_check" && document.circuits.some(({ state }) => state === "open"));
  assert.match(resting.err, /nova-3 on dg is unavailable after failures/u);
  // The same figures as those of providers health, although the circuit itself counts the last seconds of one process.
  const health = providerHealth.parse(JSON.parse((await run("providers", "health", "--json", ...admin)).out));
  const { calls, failed } =
    health.models.find(({ connection, model }) => connection === "dg" && model === "nova-3") ?? {};
  const shown = await run("providers", "check", ...admin);
  assert.match(shown.out, new RegExp(`^dg .* nova-3 +unavailable +${calls} +${failed} +20\\S+Z$`, "mu"));
  assert.match(shown.err, /^STATE is that of the responding process; CALLS and FAILED cover all processes since 20/mu);
  assert.equal((await run("providers", "check", "--admin-url", gateway.adminOrigin, "--api-key", KEY)).code, 3);
});

test("cli.providers-list: providers health prints state, successes, durations and failures of each model, and which requests to look at", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const shown = await run("providers", "health", ...admin);
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^CONNECTION +OWNER +MODEL +STATE +CALLS +OK % +P50 MS +P95 MS +MOST FREQUENT FAILURE$/mu);
  assert.match(shown.out, /^dg +shared +nova-3 +unavailable +\d+ +\d+\.\d +\d+ +\d+ +failed:server_error \(\d+\)$/mu);
  const [, id = ""] = /^20\S+Z +(req_\S+) +dg +nova-3 +failed:server_error +\d+$/mu.exec(shown.out) ?? [];
  const record = { out: "" };
  await until(async () => (await run(record, "requests", "show", id, ...admin)).code === 0);
  assert.match(record.out, /^call +1 +deepgram nova-3 +failed:server_error/mu);
  assert.match(shown.err, /requests show REQUEST --admin-url/u);
  const { out } = await run("providers", "health", "--minutes", "60", "--json", ...admin);
  assert.equal(providerHealth.parse(JSON.parse(out)).sampled, false);
  const wrong = await run("providers", "health", "--minutes", "1441", ...admin);
  assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  assert.match(wrong.err, /minutes/u);
  assert.equal((await run("providers", "health", "--admin-url", gateway.adminOrigin, "--api-key", KEY)).code, 3);
});

test("cli.providers-pause: providers pause and resume work for shared and workspace connections, and every list shows what is paused", async () => {
  const admin = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const reason = ["--reason", "announced outage"];
  const paused = await run("providers", "pause", "dg", "--model", "nova-3", "--for", "1h30m", ...reason, ...admin);
  assert.equal(paused.code, 0, paused.err);
  assert.match(paused.out, /^dg +shared +nova-3 +20\S+Z +key_\S+ +announced outage$/mu);
  assert.match(paused.err, /^sooner: patchbay providers resume dg --model nova-3$/mu);
  const whole = pauseView.parse(JSON.parse((await run("providers", "pause", "dg", "--json", ...admin)).out));
  assert.deepEqual([whole.model, Date.parse(whole.until) - Date.parse(whole.created_at)], [null, 3_600_000]);
  const health = await run("providers", "health", ...admin);
  assert.match(health.out, /^dg +shared +all +20\S+Z +key_\S+ *$/mu);
  assert.match(health.out, /^dg +shared +nova-3 +paused +\d+ /mu);
  assert.match((await run("providers", "check", ...admin)).out, /^dg +shared +deepgram +set +nova-3 +paused /mu);
  const decided = await run("purposes", "test", "meetings", "--url", gateway.origin, "--api-key", SEEING_KEY);
  assert.match(decided.out, /^target +1 dg deepgram nova-3: paused manually until 20\S+Z$/mu);

  const one = await run("providers", "resume", "dg", "--model", "nova-3", ...admin);
  assert.match(one.err, /nova-3 on dg is still paused, with all of dg\. To resume it: patchbay providers resume dg$/mu);
  const all = await run("providers", "resume", "dg", "--json", ...admin);
  assert.deepEqual(resumption.parse(JSON.parse(all.out)).ended, [whole]);
  assert.match(
    (await run("providers", "resume", "dg", ...admin)).err,
    /^dg may be called again; nothing was paused\.$/mu,
  );
  assert.doesNotMatch((await run("providers", "check", ...admin)).out, /paused/u);

  const slip = await run("providers", "pause", "dg", "--for", "soon", ...admin);
  assert.deepEqual([slip.code, slip.out], [2, ""]);
  assert.match(slip.err, /--for: "soon" is not a duration\.\n.*90s, 30m, 1h/u);
  assert.match((await run("providers", "pause", "dg", "--for", "8d", ...admin)).err, /duration_seconds/u);
  assert.equal((await run("providers", "pause", "dg", "--model", "nova3", ...admin)).code, 2);
  assert.equal((await run("providers", "pause", "nowhere", ...admin)).code, 4);
  assert.equal((await asAdmin("providers", "pause", "dg")).code, 4, "a shared connection is not a workspace's");
  assert.equal((await run("providers", "pause", "dg", "--admin-url", gateway.adminOrigin, "--api-key", KEY)).code, 3);
});

const api = (key: string, ...more: readonly string[]) =>
  run("api", ...more, "--api-key", key, "--url", more[1]?.startsWith("/admin/") ? gateway.adminOrigin : gateway.origin);

test("cli.api: api asks any endpoint and prints one JSON document, a text unchanged", async () => {
  const me = await api(KEY, "get", "/v1/me");
  assert.deepEqual([me.code, me.err], [0, ""]);
  assert.equal((JSON.parse(me.out) as { workspace: { slug: string } }).workspace.slug, "acme");
  assert.match((await api(KEY, "GET", "/docs/errors")).out, /^<!doctype html>/iu);
  const streamed = await api(
    KEY,
    "POST",
    "/v1/chat",
    "--data",
    '{"messages":[{"role":"user","content":"Hi"}],"stream":true}',
  );
  assert.match(streamed.out, /^event: chat\.started$/mu);
  assert.match(streamed.out, /^event: chat\.completed$/mu);
});

test("cli.api-idempotency: api changes what has no command of its own, with --if-match", async () => {
  const path = "/admin/v1/workspaces";
  stdin = '{"slug":"by-api","plan":null}';
  const made = await api(OPERATOR_KEY, "POST", path, "--data", "-");
  assert.equal(made.code, 0, made.err);
  const one = `${path}/by-api`;
  const seen = await api(OPERATOR_KEY, "GET", one, "--include");
  const etag = /^etag: (.*)$/mu.exec(seen.err)?.[1] ?? "";
  assert.match(seen.err, /^200 /u);
  const blind = await api(OPERATOR_KEY, "PUT", one, "--data", '{"plan":null}');
  assert.equal(blind.code, 2);
  assert.doesNotMatch(blind.err, /^x-request-id:/mu);
  const shown = await api(OPERATOR_KEY, "PUT", one, "--data", '{"plan":null}', "--include");
  assert.match(shown.err, /^428 .*\n(?:.+: .*\n)*x-request-id: req_/u, "of a refusal too, before what is said of it");
  assert.equal((JSON.parse(blind.out) as { error: { code: string } }).error.code, "PRECONDITION_REQUIRED");
  assert.match(blind.err, /PRECONDITION_REQUIRED/u);
  const changed = await api(OPERATOR_KEY, "PUT", one, "--data", '{"plan":null}', "--if-match", etag);
  assert.equal(changed.code, 0, changed.err);
  assert.equal((await api(OPERATOR_KEY, "DELETE", one)).code, 0);
  assert.equal((await api(OPERATOR_KEY, "GET", one)).code, 4);
});

test("routing.ending-confirmed, cli.api: api creates, publishes and rolls back a route with an ending model only with the confirmation, exit code 5 without it", async () => {
  const routes = "/admin/v1/routes";
  const post = (path: string, body: object) =>
    api(OPERATOR_KEY, "POST", `${routes}${path}`, "--data", JSON.stringify(body));
  const targets = [{ connection: "oa", model: "gpt-5" }];
  const steps = [
    ["", { id: "ending-by-api", targets }],
    ["/ending-by-api/publish", {}],
  ] as const;
  for (const [path, body] of steps) {
    const refused = await post(path, body);
    assert.equal(refused.code, 5, refused.err);
    assert.match(refused.err, /`oa\/gpt-5` ends on 2026-12-11.*confirm_ending: true/u);
    const accepted = await post(path, { ...body, confirm_ending: true });
    assert.equal(accepted.code, 0, accepted.err);
  }
  const current = JSON.stringify({ targets: [{ connection: "oa", model: "gpt-6-luna" }] });
  await api(OPERATOR_KEY, "PUT", `${routes}/ending-by-api`, "--data", current, "--if-match", "*");
  assert.equal((await post("/ending-by-api/publish", {})).code, 0);
  assert.equal((await post("/ending-by-api/roll-back", {})).code, 5);
  const back = await post("/ending-by-api/roll-back", { confirm_ending: true });
  assert.equal((JSON.parse(back.out) as { version: number }).version, 1);
  assert.equal((await api(OPERATOR_KEY, "DELETE", `${routes}/ending-by-api`)).code, 0);
});

test("cli.api-idempotency: api sends an Idempotency-Key with every POST, so that sending again is safe", async () => {
  const body = ["--data", '{"messages":[{"role":"user","content":"Once"}]}', "--idempotency-key", "api-once"];
  const [first, again] = [await api(KEY, "POST", "/v1/chat", ...body), await api(KEY, "POST", "/v1/chat", ...body)];
  assert.equal(first.code, 0, first.err);
  assert.equal(again.out, first.out);
});

test("cli.api-idempotency: a grant of credits is sent again under its key when the connection broke; without success the key is printed", async (t) => {
  const keys: unknown[] = [];
  const far = await httpServer(t, (request, response) => {
    keys.push(request.headers["idempotency-key"]);
    if (keys.length === 1) response.destroy();
    else response.writeHead(201, { "content-type": "application/json" }).end("{}");
  });
  const grant = (url: string) =>
    run("api", "POST", "/admin/v1/workspaces/acme/credits", "--data", "{}", "--url", url, "--api-key", OPERATOR_KEY);
  const granted = await grant(far.href);
  assert.equal(granted.code, 0, granted.err);
  assert.equal(keys.length, 2);
  assert.ok(typeof keys[0] === "string" && keys[0] === keys[1]);
  const lost = await grant("http://127.0.0.1:1");
  assert.equal(lost.code, 7);
  assert.match(lost.err, /repeat the command with --idempotency-key [0-9a-f-]{36}/u);
});

test("cli.usage-errors: api refuses what is no request before anything is sent", async () => {
  for (const [method, path, ...more] of [
    ["PATCH", "/v1/me"],
    ["GET", "v1/me"],
    ["GET", "//elsewhere.example/v1/me"],
    ["POST", "/v1/chat", "--data", "{"],
    ["POST", "/v1/chat", "--data", "@/nowhere/at/all.json"],
    ["GET", "/v1/me", "--data", "{}"],
    ["PUT", "/v1/me", "--data", "{}", "--if-match", "\u4e16"],
    ["POST", "/v1/chat", "--idempotency-key", "two\nlines"],
  ] as const) {
    const refused = await run("api", method, path, ...more, "--url", "http://127.0.0.1:1", "--api-key", KEY);
    assert.equal(refused.code, 2, `${method} ${path} ${refused.err}`);
  }
});

const odd = (port: URL, ...more: readonly string[]) =>
  run("api", "GET", "/odd", ...more, "--url", port.href, "--api-key", KEY);

for (const type of ["text/plain", "text/event-stream"])
  test(`cli.api: a ${type} that breaks off is exit code 7, and leaves no file`, async (t) => {
    const far = await httpServer(t, (_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.write("data: 1\n\n", () => response.destroy());
    });
    const file = join(tmpdir(), randomUUID());
    for (const more of [[], ["--output", file]]) {
      const cut = await odd(far, ...more);
      assert.deepEqual([cut.code, cut.err], [7, "error The response ended early.\n"]);
    }
    assert.equal(existsSync(file), false);
  });

/** No text in any encoding that is looked for: what a decoder would replace, a byte order mark, and zeros. */
const BYTES = Buffer.from([0xef, 0xbb, 0xbf, 0x00, 0xff, 0xfe, 0x80, 0x1b, 0x5b, 0x32, 0x4a, 0x0d, 0x0a, 0xc3]);

async function apiBytes(answer: Buffer, isTTY: boolean, t: TestContext) {
  const far = await httpServer(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(answer);
  });
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const keep = (name: "stdout" | "stderr") =>
    Object.assign(new Writable({ write: (chunk: Buffer, _encoding, done) => done(void kept[name].push(chunk)) }), {
      isTTY,
    });
  const code = await runCli(["api", "GET", "/odd", "--url", far.href, "--api-key", KEY], {
    up: async () => 0,
    work: async () => 0,
    operations,
    env: {},
    stdout: keep("stdout"),
    stderr: keep("stderr"),
  });
  return { code, out: Buffer.concat(kept.stdout), err: Buffer.concat(kept.stderr).toString() };
}

test("cli.api: bytes pass unchanged through a pipe and into a file", async (t) => {
  const piped = await apiBytes(BYTES, false, t);
  assert.deepEqual([piped.code, piped.out.toString("hex"), piped.err], [0, BYTES.toString("hex"), ""]);
  const far = await httpServer(t, (_request, response) => {
    response.writeHead(200, { "content-type": "audio/wav" }).end(BYTES);
  });
  const file = join(tmpdir(), randomUUID());
  t.after(() => rmSync(file, { force: true }));
  assert.equal((await odd(far, "--output", file)).code, 0);
  assert.equal(readFileSync(file, "hex"), BYTES.toString("hex"));
});

test("cli.api: a terminal gets the size of bytes and how to save them, and the text of texts", async (t) => {
  const shown = await apiBytes(BYTES, true, t);
  assert.deepEqual([shown.code, shown.out.length], [0, 0]);
  assert.match(shown.err, /^not shown: 14 bytes .*-o FILE/u);
  const text = await apiBytes(Buffer.from("caf\u00e9\u001b[2J\n"), true, t);
  assert.deepEqual([text.code, text.out.toString(), text.err], [0, "caf\u00e9[2J\n", ""]);
});

test("cli.api: an error that ends a stream is printed unchanged, and is the exit code", async (t) => {
  const error = { code: "BUDGET_EXCEEDED", message: "no more" };
  for (const name of ["event: error\n", ""]) {
    const stream = `data: {"n":1}\n\n${name}data: ${JSON.stringify({ error })}\n\n`;
    const far = await httpServer(t, (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
    });
    const ended = await odd(far);
    assert.deepEqual([ended.code, ended.out, ended.err], [6, stream, "error BUDGET_EXCEEDED: no more\n"]);
  }
});

test("cli.api, cli.closed-output: a stream without an end is over when its reader is", async (t) => {
  const left = Promise.withResolvers<void>();
  const far = await httpServer(t, (_request, response) => {
    response.once("close", left.resolve);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
  });
  const code = await runCli(["api", "GET", "/endless", "--url", far.href, "--api-key", KEY], {
    up: async () => 0,
    work: async () => 0,
    operations,
    env: {},
    stdout: new Writable({
      // As a pipe's does whose reader is gone.
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    }),
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  assert.equal(code, 0);
  await left.promise;
});
