// Callers that ask for answers of seven megabytes and never read them. The gateway lets go of the slowest when its budget is used up, its
// memory is bounded, and those who read are served, the same large answer too.
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { memoryOf } from "../../../bench/cost.ts";
import { mebibytes } from "../../../bench/sizes.ts";
import { formAround } from "../../../bench/wav.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { startHonestCallers } from "../hostile/honest-callers.ts";
import { slowWav } from "../hostile/slow-wav.ts";

const HONEST = "faults-key-of-the-honest-app-0001";
const HOSTILE = "faults-key-of-the-unread-app-0001";
const AT_ONCE = 60;
const HELD_MS = 5_000;
const JOB_MS = 120_000;
const MAX_GROWN_BYTES = 512 * 1_048_576;
const MAX_P99_MS = 500;
const RECORDING = withTimes(formAround(slowWav(3_600)));
/** As fast as somebody can speak, in long words: an answer of some seven megabytes. */
const WORDS = 30_000;

/** `n`: callers that do not read, two of three of them of a job's result and the third of the API's description. */
export async function runUnreadAnswers({ n, isShort, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using provider = await startLongTranscripts();
  await using gateways = await startGateways((sandbox) => configuration(sandbox, provider.url), { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway?.pid == null || origin === undefined) throw new Error("there is no gateway");
  const { pid } = gateway;
  const violations: string[] = [];
  const jobPath = await finishedJob(origin);
  const read = () =>
    askHttp(origin, false, { method: "GET", path: jobPath, headers: { authorization: `Bearer ${HOSTILE}` } });
  const whole = await read();
  if (whole.status !== 200) throw new Error(`the job was answered ${whole.status}: ${whole.text.slice(0, 200)}`);
  const idleBytes = memoryOf(pid).rssBytes;
  const callers = startHonestCallers(origin, HONEST, pid);
  const held: Socket[] = [];
  let closed = 0;
  for (let first = 0; first < n; first += AT_ONCE) {
    for (let at = first; at < Math.min(n, first + AT_ONCE); at += 1) {
      const socket = unreadRequest(origin, at % 3 === 2 ? "/openapi.json" : jobPath);
      socket.once("close", () => (closed += 1));
      held.push(socket);
    }
    await wait(HELD_MS);
    say(`${held.length} of ${n}, grown by ${mebibytes(memoryOf(pid).peakBytes - idleBytes)}`);
  }
  const reread = await read();
  if (reread.status !== 200 || reread.text.length !== whole.text.length)
    violations.push(`a caller that reads was answered ${reread.status}, ${reread.text.length} characters`);
  const honest = await callers.stop();
  const hasDied = gateway.pid !== pid;
  if (hasDied) violations.push("the gateway's process ended");
  const grownBytes = hasDied ? 0 : memoryOf(pid).peakBytes - idleBytes;
  // Who does not read learns of the end by writing alone.
  for (const socket of held) socket.write(" ");
  await wait(1_000);
  for (const socket of held) socket.destroy();
  if (grownBytes > MAX_GROWN_BYTES) violations.push(`grown by ${mebibytes(grownBytes)}`);
  violations.push(...honest.faults.slice(0, 20));
  if (!isShort && honest.p99Ms > MAX_P99_MS) violations.push(`others' p99 was ${honest.p99Ms.toFixed(0)} ms`);
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "a large answer": mebibytes(whole.text.length),
      "closed by the gateway": closed,
      "resident memory": `idle ${mebibytes(idleBytes)}, grown by at most ${mebibytes(grownBytes)} (bound ${mebibytes(MAX_GROWN_BYTES)})`,
      "others meanwhile": `${honest.requests} requests, ${honest.faults.length} failed, p50 ${honest.p50Ms.toFixed(1)} ms, p99 ${honest.p99Ms.toFixed(1)} ms, at most ${honest.maxMs.toFixed(0)} ms`,
    },
  };
}

/** Asks for the times of words and segments too. */
function withTimes({ contentType, body }: ReturnType<typeof formAround>): ReturnType<typeof formAround> {
  const boundary = contentType.slice(contentType.indexOf("boundary=") + "boundary=".length);
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="timestamps"\r\n\r\nboth\r\n`;
  return { contentType, body: Buffer.concat([Buffer.from(field), body]) };
}

function unreadRequest(origin: string, path: string): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${HOSTILE}\r\n\r\n`);
  return socket;
}

async function finishedJob(origin: string): Promise<string> {
  const authorization = `Bearer ${HOSTILE}`;
  const submitted = await askHttp(origin, false, {
    method: "POST",
    path: "/v1/transcription/jobs",
    headers: { authorization, "content-type": RECORDING.contentType, "idempotency-key": "unread-answers" },
    body: RECORDING.body,
  });
  if (submitted.status !== 202) throw new Error(`no job: ${submitted.status} ${submitted.text.slice(0, 200)}`);
  const { job_id: id } = JSON.parse(submitted.text) as { readonly job_id: string };
  const path = `/v1/transcription/jobs/${id}`;
  for (const lastMs = performance.now() + JOB_MS; performance.now() < lastMs; await wait(500)) {
    const { text } = await askHttp(origin, false, { method: "GET", path, headers: { authorization } });
    const { status } = JSON.parse(text) as { readonly status: string };
    if (status === "succeeded") return path;
    if (status === "failed") throw new Error(`the job failed: ${text.slice(0, 500)}`);
  }
  throw new Error("the job did not end");
}

async function startLongTranscripts() {
  const words = Array.from({ length: WORDS }, (_, at) => ({
    word: `${"word".repeat(15)}${at}`,
    start: (at * 3_600) / WORDS,
    end: ((at + 0.9) * 3_600) / WORDS,
    confidence: 0.98,
  }));
  const transcript = words.map(({ word }) => word).join(" ");
  const utterances = Array.from({ length: WORDS / 10 }, (_, at) => {
    const said = words.slice(at * 10, at * 10 + 10);
    return { transcript: said.map(({ word }) => word).join(" "), start: said[0]?.start, end: said.at(-1)?.end };
  });
  const body = JSON.stringify({
    metadata: { request_id: "unread", duration: 3_600, model_info: { m: { name: "general-nova-3", arch: "nova-3" } } },
    results: { channels: [{ alternatives: [{ transcript, words, confidence: 0.98 }] }], utterances },
  });
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => response.writeHead(200, { "content-type": "application/json" }).end(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function configuration({ deepgramUrl, openaiUrl }: Sandbox, providerUrl: string): ConfigurationFile {
  const apps = [
    { id: "honest", secret: HONEST, deepgram: deepgramUrl },
    { id: "unread", secret: HOSTILE, deepgram: providerUrl },
  ];
  return {
    limits: { stt_job_inline_result_bytes: 16_777_216 },
    connections: [
      ...apps.map(({ id, deepgram }) => ({
        id: `dg-${id}`,
        kind: "deepgram" as const,
        api_key: "secret",
        base_url: deepgram,
      })),
      { id: "oa", kind: "openai" as const, api_key: "secret", base_url: openaiUrl },
    ],
    routes: [
      ...apps.map(({ id }) => ({ id: `speech-${id}`, targets: [{ connection: `dg-${id}`, model: "nova-3" }] })),
      { id: "chat", targets: [{ connection: "oa", model: "gpt-4o" }] },
    ],
    workspaces: apps.map(({ id, secret }) => ({
      id,
      apps: [
        {
          id: `app-${id}`,
          route: "chat",
          audio_input_override: `speech-${id}`,
          keys: [{ id: `key-${id}`, secret, scopes: ["transcribe" as const, "jobs" as const, "chat" as const] }],
        },
      ],
    })),
  };
}
