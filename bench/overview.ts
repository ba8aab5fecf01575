// `npm run bench` without a name: all workloads and baselines in one table in less than ten minutes, with CPU profiles. The named benchmarks are more detailed.
import { chatting, MODES } from "./chat.ts";
import {
  chat,
  type Contender,
  type Gateway,
  inTurns,
  measured,
  openGateway,
  openOthers,
  transcription,
  type Workload,
} from "./upstream/contenders.ts";
import { memoryOf, resetPeak } from "./cost.ts";
import { type Databases, startDatabases } from "./measure/databases.ts";
import { flameTable, whereTimeGoes } from "./measure/flames.ts";
import { jobRows } from "./jobs/job-rows.ts";
import { PEER_INSTALL } from "./upstream/others.ts";
import { startChatStandIn, startStandIn } from "./measure/processes.ts";
import { type Report, round } from "./measure/report.ts";
import { type Row, rowsOf } from "./rows.ts";
import { mebibytes } from "./measure/sizes.ts";
import { uploading } from "./transcription.ts";
import { SEED } from "./upstream/wav.ts";

export interface OverviewBench {
  /** Of load, for each contender and workload. */
  readonly seconds: number;
}

const GATEWAYS: readonly Gateway[] = [
  { engine: "postgres", processes: 1 },
  { engine: "postgres", processes: 2 },
  { engine: "embedded", processes: 1 },
];
const KIB = 1_024;
const MIB = 1_048_576;
const SIZES = [
  { what: "transcription, 64 KiB", sizeBytes: 64 * KIB, connections: 16 },
  { what: "transcription, 1 MiB", sizeBytes: MIB, connections: 16 },
  { what: "transcription, 25 MiB", sizeBytes: 25 * MIB, connections: 8 },
] as const;
const LARGE = { sizeBytes: 25 * MIB, uploads: 32 };
const CHAT_CONNECTIONS = [32, 256] as const;
const WARM_UP_SECONDS = 1.5;
const LONGEST_SECONDS = 120;

export async function benchOverview({ seconds }: OverviewBench): Promise<Report> {
  const startedMs = performance.now();
  await using databases = await startDatabases();
  const rows = [...(await audio(databases, seconds)), ...(await chats(databases, seconds))];
  const profiles = await whereTimeGoes(databases);
  const hasPeer = rows.some(({ name }) => name === "Portkey gateway");
  const hasNginx = rows.some(({ name }) => name === "nginx");
  const minutes = round((performance.now() - startedMs) / 60_000, 1);
  return {
    name: "overview",
    rows: rows.map((row) => ({
      workload: row.workload,
      "": row.name,
      "a second": row.perSecond,
      ratio: row.ratio,
      n: row.n,
      "p50 ms": row.p50Ms,
      "p99 ms": row.p99Ms,
      "first byte p50 ms": row.firstP50Ms ?? "",
      "CPU ms each": row.cpuMs ?? "",
      "PostgreSQL CPU ms each": row.databaseCpuMs ?? "",
      "memory of an upload": row.bytesPerUpload === null ? "" : `${round(row.bytesPerUpload / MIB, 1)} MiB`,
    })),
    notes: [
      `ratios are to the bare Node forwarder in the same three turns; CPU is user and system time of all threads, PostgreSQL's that of the whole server; with embedded storage the gateway's figures include its PostgreSQL server`,
      `a job's bare is the forwarder with the same recording; p50 and p99 of a job finished are from its acceptance to its end`,
      `memory: what the peak of ${LARGE.uploads} uploads of ${mebibytes(LARGE.sizeBytes)} at once is above idle, for each; ${minutes} minutes in all`,
      ...(hasNginx ? [] : ["no nginx: it is not on the PATH"]),
      ...(hasPeer ? [] : [`no peer: it comes with \`${PEER_INSTALL}\``]),
      `where the time goes (PostgreSQL, self time of all threads, ms of each request and share):\n\n${flameTable(profiles)}`,
    ],
    data: { seconds, seed: SEED, minutes, rows, profiles },
  };
}

async function audio(databases: Databases, seconds: number): Promise<readonly Row[]> {
  await using standIn = await startStandIn();
  await using resources = new AsyncDisposableStack();
  const contenders = await openAll(resources, databases, transcription(standIn.origin));
  const rows: Row[] = [];
  // First, because memory left over from other loads would count as idle memory.
  const memory = new Map<string, number | null>();
  for (const contender of contenders) memory.set(contender.name, await memoryOfUpload(contender));
  for (const { what, sizeBytes, connections } of SIZES) {
    const load = uploading(sizeBytes, connections);
    for (const contender of contenders) await measured(contender, () => load(contender, WARM_UP_SECONDS));
    const compared = rowsOf(what, await inTurns(contenders, seconds, load));
    const isLarge = sizeBytes === LARGE.sizeBytes;
    rows.push(...compared.map((row) => ({ ...row, bytesPerUpload: isLarge ? (memory.get(row.name) ?? null) : null })));
  }
  return [
    ...rows,
    ...(await jobRows(
      contenders.filter(({ kind }) => kind !== "other"),
      seconds,
    )),
  ];
}

async function openAll(resources: AsyncDisposableStack, databases: Databases, workload: Workload) {
  const contenders: Contender[] = [...(await openOthers(resources, workload))];
  for (const gateway of GATEWAYS) contenders.push(await openGateway(resources, databases, workload, gateway));
  return contenders;
}

async function memoryOfUpload(contender: Contender): Promise<number | null> {
  const { pid } = contender;
  if (pid === null) return null;
  const { sizeBytes, uploads } = LARGE;
  // One small upload first: modules loaded on first use do not count as memory of uploads.
  await measured(contender, () => uploading(64 * KIB, 1, 1)(contender, LONGEST_SECONDS));
  resetPeak(pid);
  const idleBytes = memoryOf(pid).rssBytes;
  await measured(contender, () => uploading(sizeBytes, uploads, uploads)(contender, LONGEST_SECONDS));
  return Math.max(0, Math.round((memoryOf(pid).peakBytes - idleBytes) / uploads));
}

async function chats(databases: Databases, seconds: number): Promise<readonly Row[]> {
  await using standIn = await startChatStandIn();
  await using resources = new AsyncDisposableStack();
  const contenders = await openAll(resources, databases, chat(standIn.origin));
  const rows: Row[] = [];
  for (const mode of MODES) {
    const warmUp = chatting(mode, CHAT_CONNECTIONS[0]);
    for (const contender of contenders) await measured(contender, () => warmUp(contender, WARM_UP_SECONDS));
    for (const connections of CHAT_CONNECTIONS) {
      const results = await inTurns(contenders, seconds, chatting(mode, connections));
      rows.push(...rowsOf(`chat, ${mode}, ${connections} connections`, results));
    }
  }
  return rows;
}
