// The requests of OpenAI's client for Python, recorded from examples/openai-sdk-python, so that they can be replayed where the package cannot be installed.
// To record them again: PATCHBAY_TEST_PYTHON=… node test/examples/openai-python-requests.ts
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { startPostgresServer } from "../harness/postgres/postgres-server.ts";
import { ROOT, startExampleGateway } from "./example-gateway.ts";

const FILE = join(ROOT, "test/fixtures/openai-python/requests.json");
/** Stands for the recording in a body, and for the API key. */
const RECORDING = "{recording}";
const KEY = "{key}";
/** What the connection or the answer to another request decides. */
const OF_THE_CONNECTION = new Set(["host", "connection", "content-length", "transfer-encoding"]);

const recorded = z.strictObject({
  client: z.string(),
  requests: z.array(
    z.strictObject({
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()),
      /** Latin-1, so that every byte is a letter. */
      body: z.string(),
    }),
  ),
});
export type RecordedRequest = z.infer<typeof recorded>["requests"][number];

export function readRecorded(): z.infer<typeof recorded> {
  return recorded.parse(JSON.parse(readFileSync(FILE, "utf8")));
}

/** The request as it was sent, with this recording and this key. */
export function replay(
  origin: string,
  { method, path, headers, body }: RecordedRequest,
  { recording, key }: { readonly recording: Buffer; readonly key: string },
): Promise<Response> {
  const [before = "", after] = body.split(RECORDING);
  const bytes = [
    Buffer.from(before, "latin1"),
    ...(after === undefined ? [] : [recording, Buffer.from(after, "latin1")]),
  ];
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace(KEY, key)]));
  return fetch(origin + path, { method, headers: sent, body: Buffer.concat(bytes) });
}

async function record(python: string): Promise<void> {
  const recording = readFileSync(join(ROOT, "sandbox/samples/dialogue.mp3")).toString("latin1");
  const requests: RecordedRequest[] = [];
  const postgres = await startPostgresServer({ commits: "lost" });
  process.env["DATABASE_URL"] = postgres.url;
  await using gateway = await startExampleGateway();
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await buffer(request);
    const { method = "", url: path = "" } = request;
    const key = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const headers = Object.entries(request.headers)
      .filter(([name]) => !OF_THE_CONNECTION.has(name))
      .map(([name, value]) => [name, String(value).replace(key, KEY)]);
    const body = bytes.toString("latin1").replace(recording, () => RECORDING);
    requests.push({ method, path, headers: Object.fromEntries(headers), body });
    const onward = sendRequest(gateway.origin + path, { method, headers: request.headers });
    onward.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)));
    onward.end(bytes);
  };
  const server = createServer((request, response) => void pass(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = await gateway.run([python, "-c", "import openai; print('openai', openai.__version__)"]);
  await gateway.run([python, "examples/openai-sdk-python/transcribe_and_chat.py", "call.mp3"], { PATCHBAY_URL: url });
  server.closeAllConnections();
  server.close();
  process.once("beforeExit", () => void postgres.stop());
  writeFileSync(FILE, `${JSON.stringify({ client: client.trim(), requests }, null, 2)}\n`);
}

const python = process.env["PATCHBAY_TEST_PYTHON"];
if (import.meta.main && python !== undefined) await record(python);
