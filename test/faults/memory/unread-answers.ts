// Callers request answers of eight megabytes and never read them. The gateway disconnects the slowest when its budget is used up, its memory stays bounded, and
// callers that read are served: the same large answer, small jobs of the same workspace, and other tenants.
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { memoryOf } from "../../../bench/cost.ts";
import { mebibytes } from "../../../bench/measure/sizes.ts";
import { formAround } from "../../../bench/upstream/wav.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { startHonestCallers } from "../hostile/honest-callers.ts";
import { slowWav } from "../hostile/slow-wav.ts";
import { startLongTranscripts } from "./long-transcripts.ts";

const HONEST = "faults-key-of-the-honest-app-0001";
const HOSTILE = "faults-key-of-the-unread-app-0001";
const SMALL = "faults-key-of-the-small-app-0001";
const AT_ONCE = 60;
const HELD_MS = 5_000;
const JOB_MS = 120_000;
/** After all clients that do not read, on a busy machine. */
const READ_MS = 240_000;
const MAX_GROWN_BYTES = 512 * 1_048_576;
const MAX_P99_MS = 500;
const RECORDING = withTimes(formAround(slowWav(3_600)));
/** The fastest speech in long words: an answer of about eight megabytes, four of which fit into the kernel's buffers. */
const WORDS = 30_000;

/** Requested in turns by callers that do not read. */
const QUESTIONS = ["large job", "large job", "description", "large job", "large job", "small job"] as const;

/** `n`: callers that do not read; two of three request a large job. */
export async function runUnreadAnswers({ n, isShort, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using provider = await startLongTranscripts(WORDS);
  await using gateways = await startGateways((sandbox) => configuration(sandbox, provider.url), { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway?.pid == null || origin === undefined) throw new Error("there is no gateway");
  const { pid } = gateway;
  const violations: string[] = [];
  const jobPath = await finishedJob(origin, HOSTILE, RECORDING);
  const smallJob = {
    method: "GET",
    path: await finishedJob(origin, SMALL, formAround(slowWav(1))),
    headers: { authorization: `Bearer ${SMALL}` },
  };
  const read = () =>
    askHttp(origin, false, {
      method: "GET",
      path: jobPath,
      headers: { authorization: `Bearer ${HOSTILE}` },
      timeoutMs: READ_MS,
    });
  const fullAnswer = await read();
  if (fullAnswer.status !== 200)
    throw new Error(`the job was answered ${fullAnswer.status}: ${fullAnswer.text.slice(0, 200)}`);
  const idleBytes = memoryOf(pid).rssBytes;
  const callers = startHonestCallers(origin, HONEST, pid);
  const pollers = startHonestCallers(origin, SMALL, pid, [smallJob]);
  const openSockets: { readonly socket: Socket; readonly size: "large" | "small" }[] = [];
  for (let first = 0; first < n; first += AT_ONCE) {
    for (let at = first; at < Math.min(n, first + AT_ONCE); at += 1) {
      const question = QUESTIONS[at % QUESTIONS.length];
      const isLarge = question === "large job";
      const smallPath = question === "description" ? "/openapi.json" : smallJob.path;
      const socket = isLarge ? unreadRequest(origin, jobPath, HOSTILE) : unreadRequest(origin, smallPath, SMALL);
      openSockets.push({ socket, size: isLarge ? "large" : "small" });
    }
    await wait(HELD_MS);
    say(`${openSockets.length} of ${n}, grown by ${mebibytes(memoryOf(pid).peakBytes - idleBytes)}`);
  }
  const reread = await read();
  if (reread.status !== 200 || reread.text.length !== fullAnswer.text.length)
    violations.push(`a caller that reads was answered ${reread.status}, ${reread.text.length} characters`);
  const honest = await callers.stop();
  const polls = await pollers.stop();
  const hasDied = gateway.pid !== pid;
  if (hasDied) violations.push("the gateway's process ended");
  const grownBytes = hasDied ? 0 : memoryOf(pid).peakBytes - idleBytes;
  // Received bytes are read only now: a truncated answer means a disconnection.
  const disconnected = { large: 0, small: 0 };
  await Promise.all(
    openSockets.map(async ({ socket, size }) => {
      if (!(await isWhole(socket))) disconnected[size] += 1;
      socket.destroy();
    }),
  );
  if (grownBytes > MAX_GROWN_BYTES) violations.push(`grown by ${mebibytes(grownBytes)}`);
  if (disconnected.large === 0) violations.push("no reader of a large answer was disconnected");
  if (disconnected.small > 0) violations.push(`${disconnected.small} readers of small answers were disconnected`);
  for (const [group, { faults, p99Ms }] of Object.entries({ others: honest, "small jobs": polls })) {
    violations.push(...faults.slice(0, 20));
    if (!isShort && p99Ms > MAX_P99_MS) violations.push(`the p99 of ${group} was ${p99Ms.toFixed(0)} ms`);
  }
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "a large answer": mebibytes(fullAnswer.text.length),
      "readers of large answers disconnected": disconnected.large,
      "readers of small answers disconnected": disconnected.small,
      "resident memory": `idle ${mebibytes(idleBytes)}, grown by at most ${mebibytes(grownBytes)} (bound ${mebibytes(MAX_GROWN_BYTES)})`,
      "others at the same time": `${honest.requests} requests, ${honest.faults.length} failed, p50 ${honest.p50Ms.toFixed(1)} ms, p99 ${honest.p99Ms.toFixed(1)} ms, at most ${honest.maxMs.toFixed(0)} ms`,
      "polls of a small job of the same workspace": `${polls.requests}, ${polls.faults.length} failed, p50 ${polls.p50Ms.toFixed(1)} ms, p99 ${polls.p99Ms.toFixed(1)} ms`,
    },
  };
}

/** Also requests times of words and segments. */
function withTimes({ contentType, body }: ReturnType<typeof formAround>): ReturnType<typeof formAround> {
  const boundary = contentType.slice(contentType.indexOf("boundary=") + "boundary=".length);
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="timestamps"\r\n\r\nboth\r\n`;
  return { contentType, body: Buffer.concat([Buffer.from(field), body]) };
}

function unreadRequest(origin: string, path: string, secret: string): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
  return socket;
}

/** Whether the only answer is complete; false: the connection ended before its last byte. */
async function isWhole(socket: Socket): Promise<boolean> {
  let head = "";
  let received = 0;
  let total = Number.POSITIVE_INFINITY;
  const completion = Promise.withResolvers<boolean>();
  for (const event of ["end", "error", "close"]) socket.once(event, () => completion.resolve(false));
  socket.on("data", (bytes: Buffer) => {
    received += bytes.length;
    if (total === Number.POSITIVE_INFINITY) {
      head += bytes.toString("latin1");
      const endAt = head.indexOf("\r\n\r\n");
      const length = /content-length: (\d+)/iu.exec(head)?.[1];
      if (endAt >= 0 && length !== undefined) total = endAt + 4 + Number(length);
    }
    if (received >= total) completion.resolve(true);
  });
  if (socket.destroyed) return false;
  socket.resume();
  return completion.promise;
}

async function finishedJob(origin: string, secret: string, form: ReturnType<typeof formAround>): Promise<string> {
  const authorization = `Bearer ${secret}`;
  const submitted = await askHttp(origin, false, {
    method: "POST",
    path: "/v1/transcription/jobs",
    headers: { authorization, "content-type": form.contentType, "idempotency-key": "unread-answers" },
    body: form.body,
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

function configuration({ deepgramUrl, openaiUrl }: Sandbox, providerUrl: string): ConfigurationFile {
  const apps = [
    { id: "honest", deepgram: deepgramUrl },
    { id: "unread", deepgram: providerUrl },
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
    workspaces: [
      { id: "honest", apps: [appOf("honest", HONEST, "speech-honest")] },
      { id: "unread", apps: [appOf("unread", HOSTILE, "speech-unread"), appOf("small", SMALL, "speech-honest")] },
    ],
  };
}

function appOf(id: string, secret: string, speech: string) {
  return {
    id: `app-${id}`,
    route: "chat",
    audio_input_override: speech,
    keys: [{ id: `key-${id}`, secret, scopes: ["transcribe" as const, "jobs" as const, "chat" as const] }],
  };
}
