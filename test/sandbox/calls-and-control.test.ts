// The record of calls, the HTTP control API, and the sandbox as a process of its own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { listen, transcribe } from "./ask.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

test("providers.sandbox-calls: a call is recorded as it was made, its credential only by scheme and last four characters", async () => {
  const audio = wav(1);
  await transcribe(
    sandbox.openaiUrl,
    [
      ["model", "whisper-1"],
      ["prompt", "a"],
    ],
    { audio, authorization: "Bearer sk-very-secret-1234" },
  );
  const [call] = sandbox.calls;
  assert.ok(call !== undefined);
  const { wire, model, method, path, fields, file, outcome, aborted } = call;
  assert.deepEqual(
    { wire, model, method, path, outcome, aborted },
    {
      wire: "openai",
      model: "whisper-1",
      method: "POST",
      path: "/openai/v1/audio/transcriptions",
      outcome: 200,
      aborted: false,
    },
  );
  assert.deepEqual(fields, [
    ["model", "whisper-1"],
    ["prompt", "a"],
  ]);
  assert.deepEqual(file, {
    name: "speech.wav",
    contentType: "audio/wav",
    sizeBytes: audio.length,
    sha256: createHash("sha256").update(audio).digest("hex"),
  });
  assert.equal(call.headers["authorization"], "Bearer …1234");
  assert.doesNotMatch(JSON.stringify(call), /very-secret/);
});

test("providers.sandbox-calls: repeated query parameters keep their order, and the raw body is the file", async () => {
  await listen(sandbox.deepgramUrl, "model=nova-3&redact=pci&redact=ssn&keyterm=a%20b");
  assert.deepEqual(sandbox.calls[0]?.query, [
    ["model", "nova-3"],
    ["redact", "pci"],
    ["redact", "ssn"],
    ["keyterm", "a b"],
  ]);
  assert.deepEqual([sandbox.calls[0]?.file?.name, sandbox.calls[0]?.file?.contentType], ["", "audio/wav"]);
});

test("providers.sandbox-calls: keepCalls limits what is kept, not what is counted", async () => {
  const own = await startSandbox({ keepCalls: 2 });
  for (const model of ["nova-2", "nova-3", "base"]) await listen(own.deepgramUrl, `model=${model}`);
  assert.deepEqual([own.callCount, own.calls.map(({ model }) => model)], [3, ["nova-3", "base"]]);
  own.clearCalls();
  assert.deepEqual([own.callCount, own.calls], [0, []]);
  await own.close();
});

test("providers.sandbox-bodies: a large upload goes through a temporary file, which close() removes", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sandbox-test-"));
  const usual = process.env["TMPDIR"];
  process.env["TMPDIR"] = directory;
  const own = await startSandbox();
  own.addFault({ fault: { kind: "delay", ms: 600_000 } });
  const pending = assert.rejects(transcribe(own.openaiUrl, [["model", "whisper-1"]], { audio: wav(300) }), TypeError);
  await own.waitForCall(({ file }) => file !== null);
  assert.equal((await readdir(directory)).length, 1);
  await own.close();
  await pending;
  assert.deepEqual(await readdir(directory), []);
  if (usual === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = usual;
  await rm(directory, { recursive: true });
});

const control = (path: string, init: RequestInit = {}) => fetch(`${sandbox.origin}/_sandbox/${path}`, init);

test("providers.sandbox-control: PUT replaces the faults, GET shows what is left, DELETE clears", async () => {
  const rules = [{ wire: "deepgram", times: 2, fault: { kind: "status", status: 500 } }];
  assert.equal((await control("faults", { method: "PUT", body: JSON.stringify(rules) })).status, 200);
  assert.equal((await listen(sandbox.deepgramUrl, "model=nova-3")).status, 500);
  assert.deepEqual(await (await control("faults")).json(), [{ ...rules[0], times: 1 }]);
  await control("faults", { method: "DELETE" });
  assert.equal((await listen(sandbox.deepgramUrl, "model=nova-3")).status, 200);
});

test("providers.sandbox-control: an unknown rule is refused with its place, and nothing changes", async () => {
  for (const body of ["", "{}", '[{"fault":{"kind":"explode"}}]', '[{"fault":{"kind":"stall"},"tmes":1}]']) {
    const answer = await control("faults", { method: "PUT", body });
    assert.equal(answer.status, 400, body);
    assert.equal(typeof ((await answer.json()) as { error?: unknown }).error, "string");
  }
  assert.deepEqual(await (await control("faults")).json(), []);
});

test("providers.sandbox-control: calls are listed and cleared, health answers, and none of it counts as a call", async () => {
  await listen(sandbox.deepgramUrl, "model=nova-3");
  assert.equal((await control("health")).status, 200);
  const { call_count: count } = (await (await control("calls")).json()) as { call_count: number };
  assert.equal(count, 1);
  await control("calls", { method: "DELETE" });
  assert.equal(sandbox.callCount, 0);
  assert.equal((await control("nothing")).status, 404);
});

test("providers.sandbox-refusals: paths of no provider are 404 and other methods 405", async () => {
  assert.equal((await fetch(`${sandbox.origin}/v1/listen`, { method: "POST", body: "x" })).status, 404);
  assert.equal((await fetch(`${sandbox.deepgramUrl}/v1/listen`)).status, 405);
});

test("providers.sandbox-control: main prints its addresses, answers on them and ends on SIGTERM", async () => {
  const main = spawn(
    process.execPath,
    [fileURLToPath(new URL("../../sandbox/main.ts", import.meta.url)), "--port", "0"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise<number | null>((resolve) => main.once("exit", resolve));
  let printed = "";
  for await (const chunk of main.stdout) {
    printed += String(chunk);
    if (printed.includes("credential")) break;
  }
  const [, deepgramUrl = ""] = /Deepgram\s+(http\S+)/.exec(printed) ?? [];
  assert.equal((await listen(deepgramUrl, "model=nova-3")).status, 200);
  main.kill("SIGTERM");
  assert.equal(await ended, 0);
});

test("providers.sandbox-control: main with an invalid port: usage and exit 2", async () => {
  const main = spawn(
    process.execPath,
    [fileURLToPath(new URL("../../sandbox/main.ts", import.meta.url)), "--port", "many"],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  assert.equal(await new Promise<number | null>((resolve) => main.once("exit", resolve)), 2);
});
