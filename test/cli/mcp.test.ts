// `patchbay mcp` as a process of its own, with the protocol's official client at its stdin and stdout, before a whole gateway.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { generateKey } from "../../src/auth/key-format.ts";
import { packageRoot } from "../../src/cli/package-root.ts";
import { requestRecord } from "../../src/contract/requests.ts";
import { jobParts } from "../../src/mcp/tool-answers.ts";
import { KEY, startGateway, standardFile, type TestGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { run } from "./fake-gateway.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SAMPLE = join(ROOT, "sandbox/samples/dialogue.mp3");
let gateway: TestGateway;
const TEST_KEY = generateKey("test");
const clients: Client[] = [];
before(async () => {
  gateway = await startGateway({ works: true, file: withPurpose });
});
after(async () => {
  for (const client of clients) await client.close();
  await gateway.close();
});

const connect = (...options: readonly string[]): Promise<Client> => connectAs(KEY, ...options);

async function connectAs(key: string, ...options: readonly string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const args = [join(ROOT, "src/main.ts"), "mcp", "--url", gateway.origin, ...options];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      cwd: join(ROOT, "sandbox"),
      env: { PATCHBAY_API_KEY: key },
      stderr: "ignore",
    }),
  );
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const answer = await client.callTool({ name, arguments: given });
  const texts = answer.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { isError: answer.isError === true, texts, parts: answer.content };
}

const read = (text: string | undefined) => JSON.parse(text ?? "") as Record<string, unknown>;

test("mcp.read-only-default: without --jobs no tool changes anything, and each describes its input", async () => {
  const client = await connect();
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
    [
      ["transcribe_audio", false],
      ["list_purposes", true],
      ["explain_request", true],
      ["get_job", true],
    ],
  );
  const takes = Object.keys(tools[0]?.inputSchema.properties ?? {});
  for (const field of ["path", "url", "diarization", "keyterms", "purpose", "dry_run"])
    assert(takes.includes(field), field);
  for (const field of ["mode", "stream"]) assert(!takes.includes(field), field);
});

test("mcp.transcribe: a file is transcribed, and its routing is explained by the id of its request", async () => {
  const client = await connect();
  const { isError, texts } = await call(client, "transcribe_audio", {
    path: "samples/dialogue.mp3",
    timestamps: "segment",
  });
  assert(!isError, texts.join("\n"));
  const rest = read(texts[1]);
  assert((texts[0] ?? "").length > 20);
  assert(Array.isArray(rest["segments"]) && rest["segments"].length > 0);
  // Records are written behind their answers.
  let explained = await call(client, "explain_request", { request_id: rest["request_id"] });
  await until(async () => {
    if (explained.isError) explained = await call(client, "explain_request", { request_id: rest["request_id"] });
    return !explained.isError;
  });
  const record = requestRecord.parse(read(explained.texts[0]));
  assert.deepEqual([record.status, record.endpoint], [200, "POST /v1/transcription"]);
  const purposes = await call(client, "list_purposes");
  assert.match(purposes.texts[0] ?? "", /"purpose":"meeting"/u);
});

test("mcp.refusals: a refusal is an answer that the model can act on: what is wrong, in the gateway's own words", async () => {
  const client = await connect();
  const nothing = await call(client, "transcribe_audio", { path: SAMPLE, url: "https://example.com/a.mp3" });
  assert(nothing.isError);
  assert.match(nothing.texts.join(), /either `path` or `url`/u);
  const missing = await call(client, "transcribe_audio", { path: "-" });
  assert(missing.isError);
  assert.match(missing.texts.join(), /sandbox\/-/u);
  const noAudio = await call(client, "transcribe_audio", { path: join(ROOT, "package.json") });
  assert(noAudio.isError);
  assert.match(
    noAudio.texts.join(),
    /^UNSUPPORTED_MEDIA_TYPE: .*\n.*docs\/errors#UNSUPPORTED_MEDIA_TYPE\nrequest req_/su,
  );
  const unknown = await call(client, "get_job", { job_id: "job_unknown" });
  assert(unknown.isError);
  assert.match(unknown.texts.join(), /JOB_NOT_FOUND/u);
});

test("mcp.jobs: with --jobs a job is submitted and found with its transcript, which is a resource too; one that has ended is not cancelled", async () => {
  const client = await connect("--jobs");
  const submitted = await call(client, "submit_transcription_job", { path: SAMPLE, metadata: { from: "mcp" } });
  assert(!submitted.isError, submitted.texts.join());
  const { job_id: id } = read(submitted.texts[0]);
  let found = await call(client, "get_job", { job_id: id, wait_seconds: 30 });
  assert.equal(read(found.texts[0])["status"], "succeeded");
  const transcript = found.texts[1];
  const { contents } = await client.readResource({ uri: `patchbay://jobs/${String(id)}/transcript` });
  assert.deepEqual(
    contents.map((content) => ("text" in content ? content.text.trim() : null)),
    [transcript?.trim()],
  );
  const cancelled = await call(client, "cancel_job", { job_id: id });
  assert.equal(read(cancelled.texts[0])["status"], "succeeded");
  found = await call(client, "get_job", { job_id: id });
  assert.equal(found.texts[1], transcript);
});

test("mcp.simulated: a simulated job carries its warning, and its transcript begins with it where it is sent alone", async () => {
  const client = await connectAs(TEST_KEY, "--jobs");
  const submitted = await call(client, "submit_transcription_job", { path: SAMPLE });
  assert(!submitted.isError, submitted.texts.join());
  const { job_id: id } = read(submitted.texts[0]);
  const found = await call(client, "get_job", { job_id: id, wait_seconds: 30 });
  assert.deepEqual([read(found.texts[0])["status"], read(found.texts[0])["simulated"]], ["succeeded", true]);
  const { contents } = await client.readResource({ uri: `patchbay://jobs/${String(id)}/transcript` });
  assert.match(
    contents.map((content) => ("text" in content ? content.text : "")).join(),
    /^Simulated response\. .*\n\n\S/u,
  );
});

test("mcp.long-transcript: a long transcript of a job is a link instead of text", async () => {
  const ended = { job_id: "job_1" };
  const warnings = [{ code: "SIMULATED_PROVIDER" }];
  const parts = (content: string) => jobParts(ended, { content, warnings });
  const kinds = async (content: string) => (await parts(content)).map(({ type }) => type);
  assert.deepEqual(await kinds("a".repeat(20_000)), ["text", "text", "text"]);
  assert.deepEqual(await kinds("a".repeat(20_001)), ["text", "resource_link"]);
  const [facts] = await parts("a".repeat(20_001));
  assert.deepEqual(facts, { type: "text", text: JSON.stringify({ ...ended, warnings }) });
  assert.deepEqual((await jobParts(ended, null)).length, 1);
});

test("mcp.command-lifetime: the command ends with its client, and writes nothing except messages of the protocol", async () => {
  const child = spawn(process.execPath, [join(ROOT, "src/main.ts"), "mcp"], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end();
  const [printed, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  assert.deepEqual([code, printed, said], [0, "", ""]);
});

test("mcp.command-terminal: on a terminal the command says how to name it to a client", async () => {
  const onTerminal = (command: string) =>
    run(["mcp"], { stdin: Object.assign(new PassThrough().end(), { isTTY: true }), command });
  const { exitCode, stderr, stdout } = await onTerminal("patchbay");
  assert.deepEqual([exitCode, stdout], [2, ""]);
  assert.match(stderr, /"command": "patchbay", "args": \["mcp"\]/u);
  // A client starts it in a directory of its own, where npm would find no script.
  const launcher = JSON.stringify(join(packageRoot(), "bin", "patchbay.js"));
  const inCheckout = await onTerminal("npm run patchbay --");
  assert.ok(inCheckout.stderr.includes(`"command": "node", "args": [${launcher}, "mcp"]`), inCheckout.stderr);
});

function withPurpose(sandbox: Parameters<typeof standardFile>[0]) {
  const file = standardFile(sandbox);
  return {
    ...file,
    workspaces: (file.workspaces ?? []).map((workspace) => ({
      ...workspace,
      apps: (workspace.apps ?? []).map((app) => ({
        ...app,
        purposes: [{ purpose: "meeting", route: "speech" }],
        keys: [
          ...(app.keys ?? []),
          ...(app.id === "notes"
            ? [{ id: "test", secret: TEST_KEY, scopes: ["transcribe" as const, "jobs" as const] }]
            : []),
        ],
      })),
    })),
  };
}
