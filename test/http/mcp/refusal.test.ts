// What /mcp refuses, and what its tools are refused: by HTTP, by the protocol, and in the words of the endpoint behind a tool.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { keyView } from "../../../src/contract/admin/keys.ts";
import { send } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";
import { ADMIN_KEY, type RemoteGateway, startRemoteGateway, URL_OF_SPEECH } from "../audio-url/setup.ts";
import { ask } from "../edge/harness.ts";
import { callTool, connect, ERAS, message, ownConnections, post, read } from "./setup.ts";

let remote: RemoteGateway;
let origin = "";
before(async () => {
  remote = await startRemoteGateway();
  ({ origin } = remote.gateway);
});
after(() => remote.close());

async function makeKey(fields: object): Promise<string> {
  const answer = await send(`${origin}/workspace/acme/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ app: "notes", ...fields }),
  });
  return keyView.parse(answer.json).secret ?? "";
}

/** The protocol's own refusal. */
async function refuses(response: Response, status: number, code: number, words: RegExp): Promise<void> {
  const body = (await response.json()) as { readonly error: { readonly code: unknown; readonly message: string } };
  assert.deepEqual([response.status, body.error.code], [status, code], body.error.message);
  assert.match(body.error.message, words);
  if (status >= 400) assert.equal(response.headers.get("x-should-retry"), "false");
}

async function codeOf(response: Response): Promise<readonly [number, string]> {
  return [response.status, errorBody.parse(await response.json()).error.code];
}

test("mcp.authentication: without a key, with a wrong one, or with one in the address: 401 with its challenge, before anything is read", async () => {
  for (const [query, headers] of [
    ["", {}],
    ["", { authorization: "Bearer nobody-ever-had-such-a-key-01" }],
    [`?authorization=Bearer%20${KEY}`, {}],
  ] as const) {
    const response = await fetch(`${origin}/mcp${query}`, { method: "POST", headers, body: message("tools/list") });
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
    assert.deepEqual(await codeOf(response), [401, "UNAUTHENTICATED"]);
  }
  await assert.rejects(connect(origin, { key: "nobody-ever-had-such-a-key-01" }), /401/u);
});

test("mcp.origin: a page of another origin is refused, whatever name it reached the gateway by; the gateway's own is not", async () => {
  const { publicUrl } = remote.gateway.configuration.server;
  const { port } = new URL(publicUrl);
  for (const other of [
    "https://evil.example",
    `http://rebound.example:${port}`,
    "null",
    `${publicUrl}.evil.example`,
    "",
  ])
    await refuses(await post(origin, message("tools/list"), { origin: other }), 403, -32_000, /Origin/u);
  assert.equal((await post(origin, message("tools/list"), { origin: publicUrl })).status, 200);
});

test("mcp.post-only: there is no stream to open and no session to end: only POST", async () => {
  for (const method of ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"]) {
    const response = await fetch(`${origin}/mcp`, { method, headers: { authorization: `Bearer ${KEY}` } });
    assert.deepEqual([response.status, response.headers.get("allow")], [405, "POST"], method);
  }
});

test("mcp.body: a body that is too large, of another type or compressed is refused as everywhere, and so is an unknown query parameter", async () => {
  const large = message("tools/list", { _meta: { filler: "x".repeat(1_048_576) } });
  assert.deepEqual(await codeOf(await post(origin, large)), [413, "BODY_TOO_LARGE"]);
  const list = message("tools/list");
  const typed = await post(origin, list, { "content-type": "text/plain" });
  assert.deepEqual(await codeOf(typed), [415, "UNSUPPORTED_MEDIA_TYPE"]);
  const packed = await post(origin, list, { "content-encoding": "gzip" });
  assert.deepEqual(await codeOf(packed), [415, "UNSUPPORTED_MEDIA_TYPE"]);
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  for (const query of ["?tools=all", "?tools=jobs&tools=jobs", "?session=1"]) {
    const response = await fetch(`${origin}/mcp${query}`, { method: "POST", headers, body: list });
    assert.deepEqual(await codeOf(response), [400, "INVALID_REQUEST"], query);
  }
  const policy = await post(origin, list, { "x-svc-purpose-policy": "perhaps" });
  assert.deepEqual(await codeOf(policy), [400, "INVALID_REQUEST"]);
});

test("mcp.body: ambiguous HTTP framing does not reach a tool", async () => {
  const { port } = new URL(origin);
  const body = message("tools/list");
  const head = `POST /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${KEY}\r\n`;
  for (const framing of [
    "Transfer-Encoding: gzip, chunked\r\n",
    `Transfer-Encoding: chunked\r\nContent-Length: ${body.length}\r\n`,
    `Content-Length: ${body.length}\r\nContent-Length: ${body.length + 1}\r\n`,
    `Content-Length: ${body.length}\r\nAuthorization: Bearer ${KEY}\r\n`,
    `Content-Length: ${body.length}\r\nX-SVC-Purpose: a\r\nX-SVC-Purpose: b\r\n`,
  ])
    assert.equal((await ask(Number(port), `${head}${framing}\r\n${body}`)).status, 400, framing);
});

test("mcp.protocol-errors: what is not a message of the protocol is refused in its words, with its code", async () => {
  for (const [body, code, words] of [
    ["{", -32_700, /not valid JSON/u],
    ["", -32_700, /empty/u],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32_700, /twice/u],
    ['{"__proto__":{},"jsonrpc":"2.0","id":1,"method":"ping"}', -32_700, /__proto__/u],
    ["[".repeat(5_000), -32_700, /nested/u],
    [`[${message("tools/list")}]`, -32_600, /one message at a time/u],
    ["[]", -32_600, /one message/u],
    ["null", -32_600, /JSON-RPC/u],
    ['{"id":1,"method":"ping"}', -32_600, /JSON-RPC/u],
  ] as const)
    await refuses(await post(origin, body), 400, code, words);
  const unknown = await post(origin, message("tools/list"), { "mcp-protocol-version": "1999-01-01" });
  await refuses(unknown, 400, -32_000, /Unsupported protocol version/u);
  const [stateless, mismatched] = ["2026-07-28", "2027-01-01"].map((version) =>
    message("tools/list", {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
      },
    }),
  );
  const ahead = { "mcp-protocol-version": "2027-01-01", "mcp-method": "tools/list" };
  await refuses(await post(origin, mismatched ?? "", ahead), 400, -32_022, /protocol version/iu);
  await refuses(await post(origin, stateless ?? "", ahead), 400, -32_020, /header/iu);
  await refuses(await post(origin, message("tools/dance")), 200, -32_601, /not found/iu);
  const listen = message("subscriptions/listen", {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" },
    },
    notifications: { toolsListChanged: true },
  });
  const heads = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  await refuses(await post(origin, listen, heads), 200, -32_603, /limit/u);
});

for (const era of ERAS) {
  test(`mcp.refusals: ${era}: a refusal is an answer that the model can act on: the endpoint's own words and id`, async () => {
    const client = await connect(origin, { era });
    const elsewhere = await callTool(client, "transcribe_audio", { url: "https://nobody-listed.example/a.mp3" });
    assert(elsewhere.isError);
    assert.match(
      elsewhere.texts.join(),
      /^AUDIO_URL_REJECTED: .*\nwhat to do: http.*docs\/errors#AUDIO_URL_REJECTED\nrequest req_/su,
    );
    const file = await callTool(client, "transcribe_audio", { path: "/etc/passwd" });
    assert(file.isError);
    assert.match(file.texts.join(), /url/u);
    const job = await callTool(client, "get_job", { job_id: "../../me" });
    assert(job.isError);
    assert.match(job.texts.join(), /^(?:JOB_NOT_FOUND|NOT_FOUND): /u);
    await assert.rejects(client.readResource({ uri: "patchbay://jobs/job_unknown/transcript" }), /JOB_NOT_FOUND/u);
    // Not offered at this address.
    await assert.rejects(callTool(client, "submit_transcription_job", { url: URL_OF_SPEECH }), /not found/u);
    await client.close();
  });
}

test("mcp.scopes: a key without the scope is refused by the tool, and no provider is called", async () => {
  const { callCount } = remote.gateway.sandbox;
  const chats = await connect(origin, { key: await makeKey({ scopes: ["chat"] }), query: "?tools=jobs" });
  for (const name of ["transcribe_audio", "submit_transcription_job"]) {
    const { isError, texts } = await callTool(chats, name, { url: URL_OF_SPEECH });
    assert(isError);
    assert.match(texts.join(), /^FORBIDDEN: .*scope/u);
  }
  assert.match((await callTool(chats, "cancel_job", { job_id: "job_1" })).texts.join(), /^FORBIDDEN: /u);
  // Refused before their bodies were read, and over nevertheless.
  await until(() => ownConnections(remote.gateway) === 0);
  assert.equal(remote.gateway.sandbox.callCount, callCount);
  await chats.close();
});

test("mcp.quotas: tool calls count against quotas, and the refusal says when to try again", async () => {
  const key = await makeKey({ scopes: ["transcribe"], quota: { requests_per_minute: 1 } });
  const client = await connect(origin, { key });
  assert(!(await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH })).isError);
  const { isError, texts } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH });
  assert(isError);
  assert.match(texts.join(), /^RATE_LIMITED: .*\nit may succeed in \d+ s\n/su);
  await client.close();
});

test("mcp.simulated: answers to a test key are marked as simulated, and no provider is called", async () => {
  const client = await connect(origin, { key: await makeKey({ mode: "test", scopes: ["transcribe"] }) });
  const { callCount } = remote.gateway.sandbox;
  const { isError, texts } = await callTool(client, "transcribe_audio", { url: URL_OF_SPEECH });
  assert(!isError, texts.join());
  const { warnings } = read(texts[1]) as { readonly warnings?: readonly { readonly code: string }[] };
  assert.deepEqual(
    warnings?.map(({ code }) => code),
    ["SIMULATED_PROVIDER"],
  );
  assert.equal(remote.gateway.sandbox.callCount, callCount);
  await client.close();
});
