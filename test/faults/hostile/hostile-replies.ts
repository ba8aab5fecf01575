// A tenant's provider answers every call with 64 MiB that cost a reader many times their size, to eight uploads and 24 chats at once. The gateway survives, its
// memory stays bounded, each call fails in JSON, and other tenants are served meanwhile.
import { memoryOf } from "../../../bench/cost.ts";
import { mebibytes } from "../../../bench/measure/sizes.ts";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp, type HttpAnswer } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { startHonestCallers } from "./honest-callers.ts";
import { type HostileReplies, REPLY_SHAPES, startHostileReplies } from "./reply-shapes.ts";
import { slowWav } from "./slow-wav.ts";

const HONEST = "faults-key-of-the-honest-app-0001";
const HOSTILE = "faults-key-of-the-hostile-app";
const UPLOADS_AT_ONCE = 8;
const CHATS_AT_ONCE = 24;
const SYNC_TIMEOUT_SECONDS = 10;
const MAX_GROWN_BYTES = 512 * 1_048_576;
const MAX_P99_MS = 500;
/** Unknown outcomes are 502 and 504, exhausted targets 502 and 503. */
const FAILED: ReadonlySet<number> = new Set([502, 503, 504]);
const SHORT_RECORDING = formAround(noiseWav(16_044));
const LONG_RECORDING = formAround(slowWav(3_600));

/** `n`: rounds, each with the next shape. In every second cycle of the shapes the recordings last an hour, for which replies may be larger. */
export async function runHostileReplies({ n, isShort, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using provider = await startHostileReplies();
  await using gateways = await startGateways((sandbox) => configuration(sandbox, provider), { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway?.pid == null || origin === undefined) throw new Error("there is no gateway");
  const { pid } = gateway;
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  const idleBytes = memoryOf(pid).rssBytes;
  let peakBytes = idleBytes;
  const callers = startHonestCallers(origin, HONEST, pid);
  for (let round = 0; round < n && gateway.isRunning; round += 1) {
    const shape = REPLY_SHAPES[round % REPLY_SHAPES.length] ?? "";
    const isLong = Math.floor(round / REPLY_SHAPES.length) % 2 === 1;
    for (const { status, text } of await attack(origin, shape, isLong)) {
      const outcome = `${shape} ${status ?? "no answer"}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      const isStreamed = status === 200 && text.includes("event: error");
      const isPing = status === 200 && text.startsWith(": ping");
      if (!isStreamed && !isPing && (status === null || !FAILED.has(status) || !text.startsWith('{"error"')))
        violations.push(`${shape}: ${status} ${text.slice(0, 200)}`);
    }
    if (gateway.isRunning) ({ peakBytes } = memoryOf(pid));
    say(`${round + 1} of ${n} rounds, grown by ${mebibytes(peakBytes - idleBytes)}, ${violations.length} violations`);
  }
  const honest = await callers.stop();
  const hasDied = gateway.pid !== pid;
  if (hasDied) violations.push("the gateway's process ended");
  if (provider.reached() < (n * (UPLOADS_AT_ONCE + CHATS_AT_ONCE)) / 2)
    violations.push(`only ${provider.reached()} requests reached the provider`);
  if (peakBytes - idleBytes > MAX_GROWN_BYTES) violations.push(`grown by ${mebibytes(peakBytes - idleBytes)}`);
  violations.push(...honest.faults.slice(0, 20));
  if (!isShort && honest.p99Ms > MAX_P99_MS) violations.push(`others' p99 was ${honest.p99Ms.toFixed(0)} ms`);
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "reached the provider": provider.reached(),
      answers: [...outcomes].map(([outcome, count]) => `${outcome}: ${count}`).join(", "),
      "resident memory": `idle ${mebibytes(idleBytes)}, grown by at most ${mebibytes(peakBytes - idleBytes)} (bound ${mebibytes(MAX_GROWN_BYTES)})${hasDied ? " until the process ended" : ""}`,
      "others at the same time": `${honest.requests} requests, ${honest.faults.length} failed, p50 ${honest.p50Ms.toFixed(1)} ms, p99 ${honest.p99Ms.toFixed(1)} ms, at most ${honest.maxMs.toFixed(0)} ms`,
    },
  };
}

function attack(origin: string, shape: string, isLong: boolean): Promise<readonly HttpAnswer[]> {
  const recording = isLong ? LONG_RECORDING : SHORT_RECORDING;
  const at = REPLY_SHAPES.indexOf(shape);
  const authorization = (slot: number) => `Bearer ${secretOf(at, slot)}`;
  const uploads = Array.from({ length: UPLOADS_AT_ONCE }, (_, slot) =>
    askHttp(origin, false, {
      method: "POST",
      path: "/v1/transcription",
      headers: { authorization: authorization(slot), "content-type": recording.contentType },
      body: recording.body,
    }),
  );
  const chats = Array.from({ length: CHATS_AT_ONCE }, (_, index) =>
    askHttp(origin, false, {
      method: "POST",
      path: "/v1/chat",
      headers: { authorization: authorization(index % UPLOADS_AT_ONCE), "content-type": "application/json" },
      body: Buffer.from(
        JSON.stringify({ messages: [{ role: "user", content: "Hello" }], stream: shape.includes("without end") }),
      ),
    }),
  );
  return Promise.all([...uploads, ...chats]);
}

const secretOf = (shape: number, slot: number): string => `${HOSTILE}-${String(shape).padStart(2, "0")}-${slot}`;

/** A separate account for each shape and slot, because an account in cooldown is not called. */
function configuration({ deepgramUrl, openaiUrl }: Sandbox, provider: HostileReplies): ConfigurationFile {
  const hostile = REPLY_SHAPES.flatMap((shape, at) =>
    Array.from({ length: UPLOADS_AT_ONCE }, (_, slot) => ({
      id: `${at}-${slot}`,
      secret: secretOf(at, slot),
      url: provider.urlOf(shape, slot),
    })),
  );
  const apps = [
    { id: "honest", secret: HONEST, deepgram: deepgramUrl, openai: openaiUrl },
    ...hostile.map(({ id, secret, url }) => ({ id, secret, deepgram: url, openai: url })),
  ];
  return {
    limits: { sync_timeout_seconds: SYNC_TIMEOUT_SECONDS },
    connections: apps.flatMap(({ id, deepgram, openai }) => [
      { id: `dg-${id}`, kind: "deepgram" as const, api_key: "secret", base_url: deepgram },
      {
        id: `oa-${id}`,
        kind: "openai" as const,
        api_key: "secret",
        base_url: openai,
        timeout_seconds: SYNC_TIMEOUT_SECONDS,
      },
    ]),
    routes: apps.flatMap(({ id }) => [
      { id: `speech-${id}`, targets: [{ connection: `dg-${id}`, model: "nova-3" }] },
      { id: `chat-${id}`, targets: [{ connection: `oa-${id}`, model: "gpt-4o" }] },
    ]),
    workspaces: ["honest", "hostile"].map((id) => ({
      id,
      apps: apps
        .filter((app) => (app.id === "honest") === (id === "honest"))
        .map((app) => ({
          id: `app-${app.id}`,
          route: `chat-${app.id}`,
          audio_input_override: `speech-${app.id}`,
          keys: [{ id: `key-${app.id}`, secret: app.secret, scopes: ["transcribe" as const, "chat" as const] }],
        })),
    })),
  };
}
