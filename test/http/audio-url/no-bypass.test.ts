// No socket is opened past the guard: the import table forbids it, and a test counts every socket that the process opens while addresses
// of callers are in play.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { envelopeOf, postJson, send } from "../../harness/client.ts";
import { ended, JOBS, submittedOf } from "../jobs/jobs.ts";
import { ADMIN_KEY, PUBLIC, serveSpeech, startRemoteGateway, URL_OF_SPEECH } from "./setup.ts";

type Planted = readonly (readonly [file: string, text: string])[];

const WAYS_OUT: Planted = [
  ["src/audio/remote-audio.ts", 'import { connect } from "node:net";'],
  ["src/outbound/guard.ts", 'import { Resolver } from "node:dns/promises";'],
  ["src/outbound/dial.ts", 'import { connect } from "node:tls";'],
  ["src/webhooks/attempt.ts", 'import { request } from "undici";'],
  ["src/webhooks/attempt.ts", 'import { request } from "node:https";'],
  ["src/jobs/run/open-audio.ts", "await fetch(url);"],
  ["src/audio/remote-audio.ts", 'const { connect } = await import("node:net");'],
  ["src/audio/remote-audio.ts", 'const { connect } = process.getBuiltinModule("node:net");'],
  ["src/jobs/run/open-audio.ts", "new WebSocket(url);"],
  ["src/gateway/transcription/with-audio.ts", "const outbound = createOutbound({});"],
  ["src/audio/remote-audio.ts", 'import { systemConnector } from "../outbound/system-network.ts";'],
];

for (const [file, text] of WAYS_OUT)
  test(`remote-audio.guard-always-runs: the import table refuses ${file} with ${text}`, refusesImport(file, text));

function refusesImport(file: string, text: string): (t: TestContext) => Promise<void> {
  return async (t) => {
    const root = await mkdtemp(join(tmpdir(), "patchbay-imports-"));
    t.after(() => rm(root, { recursive: true }));
    await mkdir(join(root, file, ".."), { recursive: true });
    await writeFile(join(root, file), `${text}\n`);
    const script = resolve("scripts/check-imports.ts");
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" });
    assert.equal(status, 1);
    assert.ok(stderr.includes(file), stderr);
  };
}

test("remote-audio.guard-always-runs: of all sockets the process opens, those for callers' addresses are the ones the guard let through, and no other is unknown", async () => {
  const remote = await startRemoteGateway();
  const { gateway, internet } = remote;
  const { origin, sandbox } = gateway;
  const sockets: Socket[] = [];
  const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  const ports = new Map<Socket, number | undefined>();
  const notePort = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.once("connect", () => ports.set(socket, socket.remotePort));
  };
  subscribe("net.client.socket", onSocket);
  subscribe("net.client.socket", notePort);
  try {
    envelopeOf(await postJson(origin, { audio: { url: URL_OF_SPEECH } }));
    remote.answer((request, response) =>
      request.url === "/moved.wav"
        ? serveSpeech(request, response)
        : response.writeHead(302, { location: "/moved.wav", "content-length": 0 }).end(),
    );
    envelopeOf(await postJson(origin, { audio: { url: URL_OF_SPEECH } }));
    const { job_id: jobId } = submittedOf(await postJson(origin, { audio: { url: URL_OF_SPEECH } }, { path: JOBS }));
    assert.equal((await ended(origin, jobId)).status, "succeeded");
    for (const url of ["https://media.example:8443/", "https://127.0.0.1/", "https://evil.example/"])
      assert.equal((await postJson(origin, { audio: { url } })).code, "AUDIO_URL_REJECTED");
    const webhook = `${origin}/workspace/acme/stt-webhook`;
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
    internet.name("receiver.example", [PUBLIC]);
    const put = (url: string) => send(webhook, { method: "PUT", headers, body: JSON.stringify({ url }) });
    assert.equal((await put("https://receiver.example/hook")).status, 200);
    assert.equal((await send(`${webhook}/test`, { method: "POST", headers })).status, 200);
    assert.equal((await put("https://10.0.0.1/hook")).code, "INVALID_REQUEST");
  } finally {
    unsubscribe("net.client.socket", onSocket);
    unsubscribe("net.client.socket", notePort);
    await remote.close();
  }
  const known = new Set([origin, sandbox.origin, process.env["DATABASE_URL"] ?? "http://127.0.0.1:0"].map(portOf));
  const others = sockets.filter((socket) => !known.has(ports.get(socket) ?? -1));
  // One plain fetch, two hops, two hops of the job, one test delivery; whatever else the provider's stand-in was asked on its own port.
  assert.deepEqual(
    others.map((socket) => ports.get(socket)),
    others.map(() => remote.port),
  );
  assert.equal(others.length, internet.dialled.length);
  assert.equal(remote.requests.length, internet.dialled.length);
  assert.equal(internet.dialled.length, 6);
  assert.equal(internet.canaryConnections(), 0);
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}
