// Clients of /mcp that disconnect, slow tools, and endpoints that cannot answer them.
import assert from "node:assert/strict";
import { createServer as createNodeServer, type Server } from "node:http";
import { after, before, test, type TestContext } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import type { EndpointContract } from "../../../src/contract/endpoints/endpoint.ts";
import { type Admission, createAdmission } from "../../../src/gateway/admission.ts";
import type { Schedule } from "../../../src/http/body/body-rate.ts";
import type { Endpoint, Reply } from "../../../src/http/server/endpoint.ts";
import { postMcp } from "../../../src/http/endpoints/post-mcp.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { createServer, type HttpServer } from "../../../src/http/server/server.ts";
import { createLogger } from "../../../src/lib/logger.ts";
import { until } from "../../harness/until.ts";
import { type RemoteGateway, startRemoteGateway, URL_OF_SPEECH } from "../audio-url/setup.ts";
import { callTool, connect, ERAS, message, ownConnections, post } from "./setup.ts";
import { createJsonParser } from "../../../src/lib/json/json-parser.ts";

let remote: RemoteGateway;
before(async () => {
  remote = await startRemoteGateway();
});
after(() => remote.close());

for (const era of ERAS) {
  test(`mcp.hang-up: R15, ${era}: a client that disconnects ends the provider's call, and the usage row is written`, async () => {
    const { origin, sandbox, database, app } = remote.gateway;
    sandbox.clearCalls();
    sandbox.addFault({ fault: { kind: "stall" } });
    await database.db.deleteFrom("attempts").execute();
    const leaving = new AbortController();
    const client = await connect(origin, { era });
    const asked = callTool(client, "transcribe_audio", { url: URL_OF_SPEECH }, leaving.signal);
    await sandbox.waitForCall(({ outcome }) => outcome === "stalled");
    assert.equal(ownConnections(remote.gateway), 1);
    leaving.abort();
    await assert.rejects(asked);
    // Of the handshake's revisions the client says it in a message of its own, which no other request receives; then it leaves.
    await client.close();
    await sandbox.waitForCall(({ aborted }) => aborted);
    await until(async () => {
      await app.settled();
      const rows = await database.db.selectFrom("attempts").select(["state", "outcome"]).execute();
      return rows.length === 1 && rows.every(({ state, outcome }) => state === "settled" && outcome === "aborted");
    });
    assert.equal(sandbox.calls.length, 1);
    // The outer request and the one that the tool made are over.
    await app.server.underWay.done();
    assert.equal(ownConnections(remote.gateway), 0);
    sandbox.clearFaults();
  });
}

const ME: EndpointContract = {
  method: "GET",
  path: "/v1/me",
  operationId: "getMe",
  summary: "Stands for whatever a tool asks",
  auth: "key",
  responses: {},
  errors: [],
};

interface SmallOptions {
  readonly me: () => Promise<Reply>;
  /** Where the tools ask; the server itself unless given. */
  readonly server?: Server;
  readonly schedule?: Schedule;
  readonly admission?: Admission;
}

/** `/mcp` before one endpoint, and nothing behind it. */
async function startSmall(t: TestContext, { me, server, schedule, admission }: SmallOptions) {
  const logs: string[] = [];
  const logger = createLogger({ write: (line: string) => logs.push(line) }, { isStrict: true });
  const publicUrl = () => "https://gateway.example";
  const timers = schedule === undefined ? {} : { schedule };
  const edge = {
    server: () => server ?? app.server,
    version: "1.2.3",
    logger,
    parser: createJsonParser(),
    publicUrl,
    admission: admission ?? createAdmission(() => false),
    ...timers,
  };
  const endpoints: Endpoint[] = [postMcp(edge) as Endpoint, { contract: ME, handle: me }];
  let isDraining = false;
  const app: HttpServer = createServer({
    endpoints,
    authenticate: async () => ({ scopes: [], app: null, key: { id: "key_1", role: "member" } }),
    publicUrl,
    logger,
    draining: () => isDraining,
    ...timers,
  });
  const origin = await listen(app, { host: "127.0.0.1", port: 0 });
  t.after(() => app.close());
  const close = (): Promise<void> => {
    isDraining = true;
    return app.close();
  };
  return { app, close, origin, logs };
}

const ACCEPT = "application/json, text/event-stream";
const CALL = message("tools/call", { name: "list_purposes", arguments: {} });

test("mcp.slow-answers: a slow tool is answered by a stream of one event that began before the answer, or by JSON to clients that accept no events", async (t) => {
  const may = Promise.withResolvers<void>();
  const me = async (): Promise<Reply> => {
    await may.promise;
    return { status: 200, body: { json: {} } };
  };
  const scheduled: { readonly run: () => void; readonly ms: number }[] = [];
  const schedule: Schedule = (run, ms) => {
    scheduled.push({ run, ms });
    return () => undefined;
  };
  /** What was given to be done last, now. */
  const passes = async (count: number, ms: number): Promise<void> => {
    await until(() => scheduled.length === count);
    assert.equal(scheduled.at(-1)?.ms, ms);
    scheduled.at(-1)?.run();
  };
  const { origin } = await startSmall(t, { me, schedule });
  const asked = post(origin, CALL, { accept: ACCEPT });
  await passes(1, 10_000);
  await passes(2, 15_000);
  const streamed = await asked;
  assert.deepEqual([streamed.status, streamed.headers.get("content-type")], [200, "text/event-stream; charset=utf-8"]);
  const plain = post(origin, CALL, { accept: "application/json" });
  // The third is the stream's next ping.
  await passes(4, 10_000);
  may.resolve();
  const [, data = ""] = /^: ping\n\nevent: message\ndata: (.+)\n\n$/u.exec(await streamed.text()) ?? [];
  assert.deepEqual(JSON.parse(data), await (await plain).json());
  assert.match(data, /not a key description/u);
});

test("mcp.faults: an internal error behind a tool is reported with the id of its request and logged, and nothing of it gets out", async (t) => {
  const me = async (): Promise<Reply> => ({ status: 400, body: { json: { secret: "canary" } } });
  const { origin, logs } = await startSmall(t, { me });
  const response = await post(origin, CALL);
  const text = await response.text();
  assert.equal(response.status, 200);
  assert.match(text, /INTERNAL: An internal error of the gateway\. Report it with the request id\.\\nrequest req_/u);
  assert(!text.includes("canary") && !logs.join("").includes("canary"));
  const line = logs.find((each) => each.includes("a tool failed")) ?? "{}";
  const { request_id: id } = JSON.parse(line) as { readonly request_id?: string };
  assert.equal(id, response.headers.get("x-request-id"));
});

test("mcp.shutdown: a gateway that accepts no connections any more says so to the tool, and that asking again helps", async (t) => {
  const server = createNodeServer().on("connection", (socket) => socket.destroy());
  const { origin } = await startSmall(t, { me: async () => ({ status: 200, body: { json: {} } }), server });
  assert.match(await (await post(origin, CALL)).text(), /shutting down\. Retry/u);
});

test("mcp.shutdown: a gateway that shuts down finishes and answers a running tool", async (t) => {
  const [called, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const me = async (): Promise<Reply> => {
    called.resolve();
    await may.promise;
    return { status: 200, body: { json: {} } };
  };
  const { app, close, origin } = await startSmall(t, { me });
  const answer = post(origin, CALL);
  await called.promise;
  const closed = close();
  await until(() => !app.server.listening);
  may.resolve();
  assert.match(await (await answer).text(), /not a key description/u);
  await closed;
});

test("mcp.admission: a message needs room among the bodies that this process holds, and is refused unread without room", async (t) => {
  const me = async (): Promise<Reply> => ({ status: 200, body: { json: {} } });
  // One owner may fill three quarters.
  const room = { file: 0, memory: Math.ceil((CALL.length * 4) / 3) };
  const { origin } = await startSmall(t, { me, admission: createAdmission(() => false, room) });
  // What a message held is free with its answer.
  for (let time = 0; time < 3; time += 1) assert.equal((await post(origin, CALL)).status, 200);
  const refused = await post(origin, `${CALL}  `);
  assert.deepEqual([refused.status, errorBody.parse(await refused.json()).error.code], [503, "OVERLOADED"]);
  const closing = await startSmall(t, { me, admission: createAdmission(() => true) });
  const late = await post(closing.origin, CALL);
  assert.deepEqual([late.status, errorBody.parse(await late.json()).error.code], [503, "SHUTTING_DOWN"]);
});
