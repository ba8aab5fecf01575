// R9 for providers: they answer without end, with endless headers or interim responses, compressed, byte by byte, never, or not in HTTP. Every request ends by
// its deadline with an error in JSON, memory stays bounded, and every other caller is served meanwhile.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { memoryOf } from "../../../bench/cost.ts";
import { quantile } from "../../../bench/measure/report.ts";
import { mebibytes } from "../../../bench/measure/sizes.ts";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { beginStretch } from "../processor-time.ts";
import { keepProbing } from "./probes.ts";

/** One app with its own connection for each kind. */
const secretOf = (at: number): string => `faults-key-of-the-hostile-app-${String(at).padStart(2, "0")}`;
const SYNC_TIMEOUT_SECONDS = 5;
/** The deadline plus transport. */
const LONGEST_ANSWER_MS = (SYNC_TIMEOUT_SECONDS + 3) * 1_000;
const AT_ONCE = 4;
const LONGEST_PROBE_MS = 2_000;
const MAX_GROWN_BYTES = 512 * 1_048_576;
const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const FORM = formAround(noiseWav(16_044));
const BLOCK = Buffer.alloc(65_536, "a");
let bomb: Buffer | null = null;
const madeBomb = (): Buffer => (bomb ??= gzipSync(Buffer.alloc(100 * 1_048_576)));

/** Written in answer to a request, until its connection closes. */
type Answering = (socket: Socket) => Promise<void> | void;
const KINDS: Readonly<Record<string, Answering>> = {
  "endless body": async (socket) => {
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
    const chunk = Buffer.concat([Buffer.from(`${BLOCK.length.toString(16)}\r\n`), BLOCK, Buffer.from("\r\n")]);
    await untilClosed(socket, () => socket.write(chunk));
  },
  "endless headers": async (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    await untilClosed(socket, () => socket.write(`x-more: ${"a".repeat(1_000)}\r\n`));
  },
  "interim heads": async (socket) => untilClosed(socket, () => socket.write("HTTP/1.1 100 Continue\r\n\r\n")),
  "compressed bomb": (socket) => {
    socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${madeBomb().length}\r\n\r\n`);
    socket.end(madeBomb());
  },
  trickle: async (socket) => {
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
    while (!socket.destroyed) {
      socket.write("1\r\n \r\n");
      await wait(50);
    }
  },
  silence: () => undefined,
  "no HTTP": (socket) => void socket.end(BLOCK),
  "deep JSON": (socket) => {
    const deep = "[".repeat(1_000_000);
    socket.end(`${OK}content-length: ${deep.length}\r\n\r\n${deep}`);
  },
  "cut short": (socket) => void socket.end(`${OK}content-length: 100000\r\n\r\n{"results":`),
  "hung up": (socket) => void socket.end(),
};

export async function runHostileProviders({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const kinds = Object.keys(KINDS);
  await using provider = await startHostileProvider();
  await using gateways = await startGateways(() => configuration(provider.url), { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway?.pid === undefined || gateway.pid === null || origin === undefined)
    throw new Error("there is no gateway");
  const { pid } = gateway;
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  // Before any request waits for it, because it takes this process a second.
  madeBomb();
  const probes = keepProbing(origin, secretOf(0), pid);
  const idleBytes = memoryOf(pid).rssBytes;
  for (let first = 0, turn = 0; first < n; first += AT_ONCE, turn += 1) {
    const at = turn % kinds.length;
    const kind = kinds[at] ?? "silence";
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, n - first) }, async (_, index) => {
        const ends = beginStretch(pid);
        const { status, text } = await ask(origin, secretOf(at), `hostile-${seed}-${first + index}`);
        const { ms, waitedMs } = ends();
        const tookMs = ms - waitedMs;
        const outcome = `${kind} ${status ?? "no answer"}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (status === null || status < 500 || !text.startsWith('{"error"'))
          violations.push(`${kind}: ${status} ${text.slice(0, 200)}`);
        if (tookMs > LONGEST_ANSWER_MS) violations.push(`${kind}: answered after ${tookMs.toFixed(0)} ms`);
      }),
    );
    say(`${first + AT_ONCE} of ${n}, ${violations.length} violations`);
  }
  const probeMs = await probes.stop();
  // A target that failed often is in cooldown for a while.
  if (provider.reached() < n / 2) violations.push(`only ${provider.reached()} requests reached the provider`);
  const { peakBytes } = memoryOf(pid);
  const slowestMs = Math.max(...probeMs);
  if (peakBytes - idleBytes > MAX_GROWN_BYTES) violations.push(`grown by ${mebibytes(peakBytes - idleBytes)}`);
  if (slowestMs > LONGEST_PROBE_MS) violations.push(`another caller waited for ${slowestMs.toFixed(0)} ms`);
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "reached the provider": provider.reached(),
      answers: [...outcomes].map(([outcome, count]) => `${outcome}: ${count}`).join(", "),
      "resident memory": `idle ${mebibytes(idleBytes)}, grown by at most ${mebibytes(peakBytes - idleBytes)} (bound ${mebibytes(MAX_GROWN_BYTES)})`,
      "others at the same time": `${probeMs.length} requests, p50 ${quantile(probeMs, 0.5).toFixed(1)} ms, p99 ${quantile(probeMs, 0.99).toFixed(1)} ms, at most ${slowestMs.toFixed(0)} ms`,
      "the slowest of them": probes.slowest(),
    },
  };
}

function ask(origin: string, secret: string, key: string) {
  return askHttp(origin, false, {
    method: "POST",
    path: "/v1/transcription",
    headers: { authorization: `Bearer ${secret}`, "content-type": FORM.contentType, "idempotency-key": key },
    body: FORM.body,
  });
}

async function startHostileProvider() {
  const sockets = new Set<Socket>();
  let reached = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    // The headers suffice to begin; the rest is read, so that the sender is not blocked.
    socket.once("data", (head: Buffer) => {
      reached += 1;
      const at = Number(/^POST \/(\d+)\//u.exec(head.toString("latin1"))?.[1]);
      void Object.values(KINDS)[at]?.(socket);
    });
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: () => reached,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

async function untilClosed(socket: Socket, write: () => boolean): Promise<void> {
  let goOn = (): void => undefined;
  socket.on("drain", () => goOn());
  socket.on("close", () => goOn());
  while (!socket.destroyed) {
    const { promise, resolve } = Promise.withResolvers<void>();
    goOn = resolve;
    if (write()) resolve();
    await promise;
  }
}

function configuration(providerUrl: string): ConfigurationFile {
  const all = Object.keys(KINDS).map((_kind, at) => at);
  return {
    limits: { sync_timeout_seconds: SYNC_TIMEOUT_SECONDS },
    connections: all.map((at) => ({
      id: `dg-${at}`,
      kind: "deepgram" as const,
      api_key: `secret-${at}`,
      base_url: `${providerUrl}/${at}`,
    })),
    routes: all.map((at) => ({ id: `speech-${at}`, targets: [{ connection: `dg-${at}`, model: "nova-3" }] })),
    workspaces: [
      {
        id: "acme",
        apps: all.map((at) => ({
          id: `app-${at}`,
          route: `speech-${at}`,
          keys: [{ id: `key-${at}`, secret: secretOf(at), scopes: ["transcribe" as const] }],
        })),
      },
    ],
  };
}
