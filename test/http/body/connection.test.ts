// Bodies over real connections: callers that vanish, refusals in mid-body, and what remains of them (BAD-102, BAD-211, BAD-212).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { GatewayError } from "../../../src/contract/errors.ts";
import { audioOf, type Bench, BOUNDARY, file, form, openBench } from "./bodies.ts";

const MEBIBYTE = 1_048_576;
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

interface Listening {
  readonly port: number;
  /** How each request's reading ended, in order. */
  outcome(): Promise<unknown>;
}

async function listen(t: TestContext, bench: Bench): Promise<Listening> {
  const ended: PromiseWithResolvers<unknown>[] = [];
  let next = 0;
  const outcomeAt = (index: number) => (ended[index] ??= Promise.withResolvers<unknown>());
  let served = 0;
  const server = createServer((incoming: IncomingMessage, response) => {
    const index = served;
    served += 1;
    bench
      .read({ headers: incoming.headers, body: incoming, query: {} }, 25 * MEBIBYTE)
      .then(async (submission) => ({ submission, bytes: await audioOf(submission) }))
      .then(
        ({ submission, bytes }) => {
          response.end(String(bytes.length));
          return submission;
        },
        (error: unknown) => {
          const status = error instanceof GatewayError ? error.status : 500;
          response.writeHead(status, { connection: "close" }).end(error instanceof GatewayError ? error.code : "");
          return error;
        },
      )
      .then(outcomeAt(index).resolve, outcomeAt(index).reject);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return {
    port: (server.address() as AddressInfo).port,
    outcome() {
      next += 1;
      return outcomeAt(next - 1).promise;
    },
  };
}

function post(port: number, type: string, length?: number) {
  const headers = { "content-type": type, ...(length === undefined ? {} : { "content-length": length }) };
  const client = httpRequest({ port, host: "127.0.0.1", method: "POST", headers, agent: false });
  client.on("error", () => undefined);
  return client;
}

async function answer(client: ReturnType<typeof post>): Promise<{ status: number | undefined; body: string }> {
  const [response] = (await once(client, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, body };
}

const descriptors = async () => (await readdir("/proc/self/fd").catch(() => [])).length;

test("request-body.broken-off: BAD-102 a caller that resets in mid-body, form or JSON: the spool is empty and no descriptor remains", async (t) => {
  const bench = await openBench(t);
  const server = await listen(t, bench);
  const before = await descriptors();
  const bodies: [string, Buffer][] = [
    [MULTIPART, form([file(randomBytes(4 * MEBIBYTE))], "")],
    ["application/json", Buffer.from(`{"audio":"${randomBytes(3 * MEBIBYTE).toString("base64")}`)],
    [MULTIPART, form([file(randomBytes(100))], "")],
  ];
  for (const [type, body] of bodies) {
    const client = post(server.port, type, 20 * MEBIBYTE);
    await new Promise<void>((resolve) => client.write(body, () => resolve()));
    client.destroy();
    assert.ok((await server.outcome()) instanceof Error);
    await bench.isEmpty();
  }
  // Closed sockets may give their descriptors back a turn of the loop later.
  for (let turn = 0; turn < 1_000 && (await descriptors()) > before; turn += 1) await new Promise(setImmediate);
  assert.ok((await descriptors()) <= before);
});

test("request-body.refused-while-reading: a refusal in mid-body reaches the caller: reading stops and the connection is not touched", async (t) => {
  const bench = await openBench(t);
  const server = await listen(t, bench);
  const client = post(server.port, MULTIPART);
  const answered = answer(client);
  client.write(form([{ name: "language", value: "en" }, file(randomBytes(25 * MEBIBYTE + 1))], ""));
  assert.deepEqual(await answered, { status: 413, body: "AUDIO_TOO_LARGE" });
  await server.outcome();
  await bench.isEmpty();
  client.destroy();
});

for (const [name, type, body, status, text] of [
  ["a 25 MiB file", MULTIPART, () => form([file(randomBytes(25 * MEBIBYTE))]), 200, String(25 * MEBIBYTE)],
  [
    "BAD-212 JSON at the cap",
    "application/json",
    () => jsonAtCap(),
    200,
    String(Math.floor((25 * MEBIBYTE - 24) / 4) * 3),
  ],
  [
    "BAD-211 20 MB of =",
    "application/json",
    () => Buffer.from(`{"audio":"${"=".repeat(20_000_000)}"}`),
    400,
    "INVALID_REQUEST",
  ],
] as const) {
  test(`request-body.max-audio-bytes, request-body.bounded-memory: ${name} over a connection: ${status}, whole, nothing left`, async (t) => {
    const bench = await openBench(t, MEBIBYTE);
    const { port } = await listen(t, bench);
    const bytes = body();
    const client = post(port, type, bytes.length);
    const answered = answer(client);
    client.end(bytes);
    assert.deepEqual(await answered, { status, body: text });
    await bench.isEmpty();
  });
}

function jsonAtCap(): Buffer {
  const rest = '{"audio":{"base64":"","x":0}}'.replace(',"x":0', "");
  const characters = Math.floor((25 * MEBIBYTE - rest.length) / 4) * 4;
  const body = rest.replace('""', `"${"QUJD".repeat(characters / 4)}"`);
  return Buffer.from(body + " ".repeat(25 * MEBIBYTE - body.length));
}
