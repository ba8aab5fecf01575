// Measures the memory of all processes of an installation: the peak of its first start, and what it keeps while idle.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";
import { end } from "../../test/harness/programs.ts";
import { ended, tooLate } from "../measure/child-process.ts";
import { type Report, round } from "../measure/report.ts";
import type { Engine } from "../upstream/contenders.ts";
import { createMemoryReader, type MemoryReader, type Reading } from "./memory-reader.ts";
import type { ProcessKind } from "./process-memory.ts";

const SAMPLE_MS = 20;
/** The peak is looked for until so long after the last line of the start report. */
const SETTLE_MS = 2_000;
const IDLE_READINGS = 10;
const READ_AGAIN_MS = 1_000;
/** The goals of the installation's own processes, npm not included. */
export const GOAL_MEBIBYTES = { firstStart: 400, idleEmbedded: 260, idleServer: 180 };
const ROOT = join(import.meta.dirname, "../..");

export interface Started {
  /** The reading with the greatest sum. */
  readonly peak: Reading;
  readonly peakRssBytes: number;
  readonly readings: number;
  readonly longestGapMs: number;
  readonly idle: Reading;
}

export async function benchStartMemory({ idleSeconds }: { readonly idleSeconds: number }): Promise<Report> {
  const embedded = await measureStart({ idleSeconds, databaseUrl: null, command: NPM_START });
  const server = await measureOnServer(idleSeconds, NPM_START);
  const installed = existsSync(join(ROOT, "dist/src/main.js"))
    ? {
        embedded: await measureInstalled("embedded", idleSeconds),
        server: await measureInstalled("postgres", idleSeconds),
      }
    : null;
  const { firstStart, idleEmbedded, idleServer } = GOAL_MEBIBYTES;
  const rowsOf = (where: string, { peak, peakRssBytes, idle }: Started, peakGoal: number | null, idleGoal: number) => [
    rowOf(`${where}: peak of the first start`, peak, peakRssBytes, peakGoal),
    rowOf(`${where}: idle, ${idleSeconds} s later`, idle, idle.own.rssBytes, idleGoal),
  ];
  return {
    name: "memory of processes",
    rows: [
      ...rowsOf("npm start, embedded", embedded, firstStart, idleEmbedded),
      ...rowsOf("npm start, PostgreSQL server", server, null, idleServer),
      ...(installed === null
        ? []
        : [
            ...rowsOf("installed, embedded", installed.embedded, firstStart, idleEmbedded),
            ...rowsOf("installed, PostgreSQL server", installed.server, null, idleServer),
          ]),
    ],
    notes: [
      "Sum: each page once, however many of the processes share it, which is what the machine spends; compared with the goal. RSS: every page for every process, so that PostgreSQL's shared buffers and Node.js's own code count several times.",
      "npm with its shell, and the external server, are outside of the goals and in no sum.",
      `First start: read every ${SAMPLE_MS} ms (n=${embedded.readings}, longest gap ${round(embedded.longestGapMs, 0)} ms) until ${SETTLE_MS / 1000} s after the start report. Idle: median of ${IDLE_READINGS} readings.`,
      ...(installed === null ? ["An installed package is measured too after npm run build."] : []),
    ],
    data: {
      idleSeconds,
      goals: GOAL_MEBIBYTES,
      embedded: dataOf(embedded),
      server: dataOf(server),
      installed: installed === null ? null : { embedded: dataOf(installed.embedded), server: dataOf(installed.server) },
    },
  };
}

/** The package as `npm run build` made it. */
export function measureInstalled(engine: Engine, idleSeconds: number): Promise<Started> {
  if (engine === "postgres") return measureOnServer(idleSeconds, INSTALLED);
  return measureStart({ idleSeconds, databaseUrl: null, command: INSTALLED });
}

async function measureOnServer(idleSeconds: number, command: Command): Promise<Started> {
  const postgres = await startPostgresServer({ commits: "kept" });
  try {
    const { url, pid } = postgres;
    return await measureStart({ idleSeconds, databaseUrl: url, serverPid: pid, command });
  } finally {
    await postgres.stop();
  }
}

type Command = (configFile: string) => readonly [string, ...string[]];
const NPM_START: Command = (file) => ["npm", "start", "--", "--config", file];
const INSTALLED: Command = (file) => [process.execPath, join(ROOT, "bin/patchbay.js"), "up", "--config", file];

interface StartOptions {
  readonly idleSeconds: number;
  /** Null: embedded storage. */
  readonly databaseUrl: string | null;
  /** Process of an external server, whose memory is reported next to that of the gateway. */
  readonly serverPid?: number;
  readonly command: Command;
}

async function measureStart({ idleSeconds, databaseUrl, serverPid, command }: StartOptions): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-bench-"));
  const file = join(folder, "patchbay.yaml");
  await writeFile(file, JSON.stringify(configuration(databaseUrl, join(folder, "data"))));
  const [program, ...args] = command(file);
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, npm_config_update_notifier: "false" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", kill);
  const reader = createMemoryReader(child.pid ?? 0, serverPid ?? null);
  const sampler = startSampler(reader);
  try {
    await Promise.race([reported(child), ended(child, program), tooLate(program)]);
    await wait(SETTLE_MS);
    const peak = sampler.stop();
    await wait(Math.max(0, idleSeconds * 1000 - SETTLE_MS));
    const idle: Reading[] = [];
    for (let reading = 0; reading < IDLE_READINGS; reading += 1) {
      idle.push(reader.read());
      await wait(READ_AGAIN_MS);
    }
    const sorted = idle.toSorted((left, right) => left.own.bytes - right.own.bytes);
    return { ...peak, idle: sorted[IDLE_READINGS / 2] ?? reader.read() };
  } finally {
    sampler.stop();
    // npm passes no signal on; the gateway ends with npm's shell (src/start/npm-shell.ts).
    const closed = new Promise((resolve) => child.stderr?.once("close", resolve));
    await end(child, "SIGTERM");
    await closed;
    process.off("exit", kill);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without connections, routes and apps: the first start creates them. */
function configuration(databaseUrl: string | null, dataDir: string): object {
  const secrets = {
    key_pepper: randomBytes(32).toString("base64"),
    encryption_keys: [randomBytes(32).toString("base64")],
  };
  return {
    server: { host: "127.0.0.1", port: 0, admin: { port: 0 } },
    storage: { data_dir: dataDir, ...(databaseUrl === null ? {} : { database_url: databaseUrl }) },
    ...(databaseUrl === null ? {} : { secrets }),
  };
}

function startSampler(reader: MemoryReader) {
  let peak = reader.read();
  let peakRssBytes = 0;
  let readings = 0;
  let longestGapMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestGapMs = Math.max(longestGapMs, nowMs - lastMs);
    lastMs = nowMs;
    const reading = reader.read();
    readings += 1;
    if (reading.own.bytes > peak.own.bytes) peak = reading;
    peakRssBytes = Math.max(peakRssBytes, reading.own.rssBytes);
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return { peak, peakRssBytes, readings, longestGapMs };
    },
  };
}

/** Resolves with the last line of the start report, which follows the self-check. */
function reported(child: ChildProcess): Promise<void> {
  let output = "";
  return new Promise((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (/^Try it:/mu.test(output)) resolve();
    });
  });
}

function rowOf(what: string, { kinds, own }: Reading, rssBytes: number, goal: number | null) {
  const of = (kind: ProcessKind) => inMebibytes(kinds.get(kind)?.bytes ?? 0);
  const sum = inMebibytes(own.bytes);
  return {
    MiB: what,
    sum,
    goal: goal ?? "",
    verdict: goal === null ? "" : sum <= goal ? "met" : "missed",
    RSS: inMebibytes(rssBytes),
    gateway: of("gateway"),
    "speech engine": of("speech engine"),
    PostgreSQL: of("PostgreSQL"),
    processes: own.processes,
    launcher: of("launcher"),
    npm: of("npm"),
    "external server": of("external server"),
  };
}

export function dataOf({ peak, peakRssBytes, readings, longestGapMs, idle }: Started): object {
  return { peak: plain(peak), peakRssBytes, readings, longestGapMs: round(longestGapMs, 0), idle: plain(idle) };
}

function plain({ kinds, own }: Reading): object {
  return { own, ...Object.fromEntries(kinds) };
}

export function inMebibytes(bytes: number): number {
  return round(bytes / 1_048_576, 0);
}
