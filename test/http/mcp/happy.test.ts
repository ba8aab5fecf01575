// POST /mcp: the tools of a language model over HTTP, by the protocol's official client, in both kinds of its revisions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { requestRecord } from "../../../src/contract/requests.ts";
import { KEY } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { type RemoteGateway, startRemoteGateway, URL_OF_SPEECH } from "../audio-url/setup.ts";
import { callTool, connect, type Connecting, ERAS, message, post, read, type ToolReply } from "./setup.ts";

let remote: RemoteGateway;
const clients: Client[] = [];
before(async () => {
  remote = await startRemoteGateway({ works: true });
});
after(async () => {
  for (const client of clients) await client.close();
  await remote.close();
});

async function open(connecting: Connecting = {}): Promise<Client> {
  const client = await connect(remote.gateway.origin, connecting);
  clients.push(client);
  return client;
}

/** Records are written behind their answers. */
async function explained(client: Client, id: unknown): Promise<ToolReply> {
  let reply = await callTool(client, "explain_request", { request_id: id });
  await until(async () => {
    if (reply.isError) reply = await callTool(client, "explain_request", { request_id: id });
    return !reply.isError;
  });
  return reply;
}

for (const era of ERAS) {
  test(`mcp.read-only-default: ${era}: no tool changes anything unless the address requests it, and none accepts a path`, async () => {
    const client = await open({ era });
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
    const { properties = {}, required = [] } = tools[0]?.inputSchema ?? {};
    assert.deepEqual(required, ["url"]);
    for (const field of ["diarization", "keyterms", "purpose", "dry_run"]) assert(field in properties, field);
    for (const field of ["path", "mode", "stream"]) assert(!(field in properties), field);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ["patchbay://jobs/{job}/transcript"],
    );
    const asked = await (await open({ era, query: "?tools=jobs" })).listTools();
    assert.deepEqual(
      asked.tools.slice(4).map(({ name }) => name),
      ["submit_transcription_job", "cancel_job"],
    );
    assert.equal((await callTool(client, "list_purposes")).texts[0], "[]");
  });

  test(`mcp.transcribe, mcp.record: ${era}: a recording is transcribed by its URL, and the record of the request is that of the endpoint`, async () => {
    const client = await open({ era });
    const { isError, texts } = await callTool(client, "transcribe_audio", {
      url: URL_OF_SPEECH,
      timestamps: "segment",
    });
    assert(!isError, texts.join("\n"));
    assert.match(texts[0] ?? "", /simulated transcript/u);
    const rest = read(texts[1]);
    assert(Array.isArray(rest["segments"]) && rest["segments"].length > 0);
    const record = requestRecord.parse(read((await explained(client, rest["request_id"])).texts[0]));
    assert.deepEqual([record.id, record.status, record.endpoint], [rest["request_id"], 200, "POST /v1/transcription"]);
  });

  test(`mcp.jobs: ${era}: a job is submitted, waited for, read as a resource and not cancelled once it has ended`, async () => {
    const client = await open({ era, query: "?tools=jobs" });
    const submitted = await callTool(client, "submit_transcription_job", {
      url: URL_OF_SPEECH,
      metadata: { from: "mcp" },
    });
    assert(!submitted.isError, submitted.texts.join());
    const { job_id: id } = read(submitted.texts[0]);
    const found = await callTool(client, "get_job", { job_id: id, wait_seconds: 30 });
    const { status, result, metadata } = read(found.texts[0]);
    assert.deepEqual([status, result, metadata], ["succeeded", null, { from: "mcp" }]);
    const { contents } = await client.readResource({ uri: `patchbay://jobs/${String(id)}/transcript` });
    assert.deepEqual(
      contents.map((content) => ("text" in content ? content.text.trim() : null)),
      [found.texts[1]?.trim()],
    );
    const cancelled = await callTool(client, "cancel_job", { job_id: id });
    assert.equal(read(cancelled.texts[0])["status"], "succeeded");
  });
}

test("mcp.idempotency: an Idempotency-Key is that of the request which the tool makes: sent again, it calls no provider again", async () => {
  const client = await open({ headers: { "idempotency-key": "one-tool-call" } });
  const { texts: first } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH });
  const { callCount } = remote.gateway.sandbox;
  const { texts: again } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH });
  assert.equal(remote.gateway.sandbox.callCount, callCount);
  assert.equal(read(again[1])["id"], read(first[1])["id"]);
  assert.notEqual(read(again[1])["request_id"], read(first[1])["request_id"]);
  const { isError, texts } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH, language: "en" });
  assert(isError);
  assert.match(texts[0] ?? "", /^IDEMPOTENCY_KEY_REUSED: /u);
});

test("mcp.answers: a quick answer is JSON, also to a client that accepts events; a notification has an empty answer", async () => {
  const { origin } = remote.gateway;
  const accept = "application/json, text/event-stream";
  const listed = await post(origin, message("tools/list"), { accept });
  assert.deepEqual([listed.status, listed.headers.get("content-type")], [200, "application/json; charset=utf-8"]);
  // curl's own `Accept`, or none that the protocol asks for.
  assert.equal((await post(origin, message("tools/list"), { accept: "*/*" })).status, 200);
  const noted = await post(origin, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  assert.deepEqual([noted.status, await noted.text()], [202, ""]);
});

test("mcp.secrecy: neither the log nor any answer contains the key of a tool's caller", async () => {
  const client = await open();
  const { texts } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH });
  assert(!texts.join().includes(KEY));
  const logs = remote.gateway.logs.join("");
  assert(!logs.includes(KEY));
  const routes = new Set(remote.gateway.logs.map((line) => read(line)["route"]));
  assert(routes.has("/mcp") && routes.has("/v1/transcription"));
});
