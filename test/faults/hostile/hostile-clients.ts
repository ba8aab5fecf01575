// R9: N concurrent sockets of callers that send nothing, half of the headers, a body one byte at a time, or never read their answer. The gateway closes each
// within its published time, memory stays bounded, and every other caller is served meanwhile.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { memoryOf } from "../../../bench/cost.ts";
import { quantile } from "../../../bench/measure/report.ts";
import { mebibytes } from "../../../bench/measure/sizes.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { EDGE_LIMITS } from "../../../src/http/server/limits.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { keepProbing, listenOverflows } from "./probes.ts";
import { oneApp } from "../one-app.ts";

const SECRET = "faults-key-of-the-slow-app-00001";
const AUTHORIZATION = `Authorization: Bearer ${SECRET}`;
const OPENED_AT_ONCE = 200;
const LONGEST_PROBE_MS = 2_000;
const MAX_GROWN_BYTES = 512 * 1_048_576;
const { headersTimeoutMs, checkIntervalMs, bodyGraceMs, bodyWindowMs, lingerMs, unreadReplyMs } = EDGE_LIMITS;
/** Tolerance for a busy machine. */
const SLACK_MS = 10_000;

interface Kind {
  readonly share: number;
  /** Sent at once. */
  readonly opening: string;
  /** Sent each second after that. */
  readonly more: string;
  readonly reads: boolean;
  /** Time limit for the gateway to close it. */
  readonly closedWithinMs: number;
}

const HEAD_MS = headersTimeoutMs + checkIntervalMs + SLACK_MS;
const UNREAD_MS = unreadReplyMs + 2 * checkIntervalMs + SLACK_MS;
const BODY_MS = bodyGraceMs + 2 * bodyWindowMs + lingerMs + SLACK_MS;
const KINDS: Readonly<Record<string, Kind>> = {
  "says nothing": { share: 0.5, opening: "", more: "", reads: true, closedWithinMs: HEAD_MS },
  "half a head": {
    share: 0.3,
    opening: "POST /v1/transcription HTTP/1.1\r\nHost: x\r\n",
    more: "X-More: a\r\n",
    reads: true,
    closedWithinMs: HEAD_MS,
  },
  "a byte of body a second": {
    share: 0.19,
    opening: `POST /v1/transcription HTTP/1.1\r\nHost: x\r\n${AUTHORIZATION}\r\nContent-Type: multipart/form-data; boundary=abc\r\nContent-Length: 1000000\r\n\r\n--abc\r\n`,
    more: "C",
    reads: true,
    closedWithinMs: BODY_MS,
  },
  "never reads": {
    share: 0.01,
    opening: `GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(50),
    // A client that does not read detects the end only by writing.
    more: " ",
    reads: false,
    closedWithinMs: UNREAD_MS,
  },
};

interface Held {
  readonly kind: string;
  readonly socket: Socket;
  readonly openedMs: number;
  closedMs: number | null;
}

export async function runHostileClients({ n, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using gateways = await startGateways(configuration, { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway === undefined || gateway.pid === null || origin === undefined) throw new Error("there is no gateway");
  const { pid } = gateway;
  const violations: string[] = [];
  const idleBytes = memoryOf(pid).rssBytes;
  const overflowsBefore = listenOverflows();
  const probes = keepProbing(origin, SECRET, pid);
  const openSockets: Held[] = [];
  for (const [kind, { share }] of Object.entries(KINDS)) {
    const count = Math.max(1, Math.round(n * share));
    for (let first = 0; first < count; first += OPENED_AT_ONCE)
      openSockets.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(OPENED_AT_ONCE, count - first) }, () => open(origin, kind)),
        )),
      );
    say(`${openSockets.length} of ${n} sockets open`);
  }
  const isLate = ({ kind, openedMs, closedMs }: Held): boolean => {
    return (closedMs ?? performance.now()) - openedMs > (KINDS[kind]?.closedWithinMs ?? 0);
  };
  const isWaitedFor = (each: Held) => each.closedMs === null && !isLate(each);
  while (openSockets.some(isWaitedFor)) {
    for (const { kind, socket, closedMs } of openSockets) if (closedMs === null) socket.write(KINDS[kind]?.more ?? "");
    await wait(1_000);
  }
  const probeMs = await probes.stop();
  const { peakBytes } = memoryOf(pid);
  const slowestMs = Math.max(...probeMs);
  const late = openSockets.filter(isLate);
  if (late.length > 0)
    violations.push(`${late.length} sockets were held longer than promised, the first of one that ${late[0]?.kind}`);
  if (peakBytes - idleBytes > MAX_GROWN_BYTES) violations.push(`grown by ${mebibytes(peakBytes - idleBytes)}`);
  if (slowestMs > LONGEST_PROBE_MS) violations.push(`another caller waited for ${slowestMs.toFixed(0)} ms`);
  const figures = Object.keys(KINDS).map(
    (kind) => [kind, summaryOf(openSockets.filter((each) => each.kind === kind))] as const,
  );
  for (const { socket } of openSockets) socket.destroy();
  return {
    engine: "postgres",
    n: openSockets.length,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      ...Object.fromEntries(figures),
      "resident memory": `idle ${mebibytes(idleBytes)}, grown by at most ${mebibytes(peakBytes - idleBytes)} (bound ${mebibytes(MAX_GROWN_BYTES)})`,
      "others at the same time": `${probeMs.length} requests, p50 ${quantile(probeMs, 0.5).toFixed(1)} ms, p99 ${quantile(probeMs, 0.99).toFixed(1)} ms, at most ${slowestMs.toFixed(0)} ms`,
      "the slowest of them": probes.slowest(),
      "connections that found no place in a queue": listenOverflows() - overflowsBefore,
    },
  };
}

async function open(origin: string, kind: string): Promise<Held> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  const openSocket: Held = { kind, socket, openedMs: performance.now(), closedMs: null };
  socket.once("close", () => {
    openSocket.closedMs = performance.now();
  });
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  const { opening, reads } = KINDS[kind] ?? { opening: "", reads: true };
  if (opening !== "") socket.write(opening);
  if (reads) socket.resume();
  else socket.pause();
  return openSocket;
}

function summaryOf(openSockets: readonly Held[]): string {
  const times = openSockets.flatMap(({ openedMs, closedMs }) => (closedMs === null ? [] : [closedMs - openedMs]));
  const most = times.length === 0 ? "" : `, after at most ${(Math.max(...times) / 1_000).toFixed(1)} s`;
  return `${openSockets.length} sockets, ${times.length} closed by the gateway${most}`;
}

function configuration(sandbox: Sandbox): ConfigurationFile {
  return oneApp(sandbox, SECRET);
}
