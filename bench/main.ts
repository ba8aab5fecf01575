// `npm run bench [-- name …options]`: without a name, a table of all workloads and baselines; with a name, the detailed benchmark. Each run is bounded.
import { parseArgs } from "node:util";
import { benchChat } from "./chat.ts";
import { benchGoals, STEP_NAMES } from "./goals/goals.ts";
import { worthOfCores } from "./measure/cores.ts";
import { benchDeliveries } from "./jobs/deliveries.ts";
import { benchJobGrowth } from "./jobs/job-growth.ts";
import { benchJobProcesses } from "./jobs/job-processes.ts";
import { benchJobPolls } from "./jobs/job-polls.ts";
import { benchJobs } from "./jobs/jobs.ts";
import { benchJobUploads } from "./jobs/job-uploads.ts";
import { benchKeyedLatency } from "./keyed-latency.ts";
import { benchLatency } from "./latency.ts";
import { benchLocal } from "./local.ts";
import { benchStartMemory } from "./memory/start.ts";
import { benchUploadMemory } from "./memory/uploads.ts";
import { benchOverview } from "./overview.ts";
import { benchRealtime } from "./realtime.ts";
import { benchRealtimeLimit } from "./realtime-limit.ts";
import { printReport, type Report } from "./measure/report.ts";
import { benchRequestLog } from "./request-log.ts";
import { parseBytes } from "./measure/sizes.ts";
import { benchTranscription } from "./transcription.ts";

const USAGE = `npm run bench -- [transcription | chat | memory | jobs | job-growth | job-polls | job-uploads | realtime | request-log | latency | keyed-latency | local | goals] [options]

no name        every workload on every storage next to every baseline, in less than ten minutes
  --seconds 3          of load for each and each workload, in three alternating rounds
transcription  requests/s of the gateway compared with a bare forwarder, nginx and the peer, and where its time goes
  --size 1MiB          of the audio; the WAV header comes on top
  --seconds 8          of load for each, in three alternating rounds
  --connections 32
  --engine postgres    or embedded
  --processes 1        number of gateways, on postgres
memory         all processes: peak of a first start, and idle; then one process while many large uploads are under way
  --idle 60            seconds from the start report to the reading
  --uploads 200        at once; 0: no uploads
  --size 25MiB         of each file, header included
chat           requests/s and chunks/s compared with a bare forwarder, nginx and the peer, plain and streamed
  --seconds 8          of load for each, in three alternating rounds
  --connections 32,256
  --engine postgres    or embedded
  --processes 1        number of gateways, on postgres; if more, compared with one
  --peer URL           another gateway, running already, that takes Portkey's headers; else the one in bench/peer when installed
jobs           embedded and on a server: submissions, pick-up, and jobs finished in a second
  --jobs 1000          of each of two bursts
  --connections 16
  --singles 100        one after the other
  --webhook            on a server: what deliveries add to jobs, and deliveries alone
  --processes 2        instead: the burst on a server, with one gateway and with so many, in three alternating rounds
job-growth     jobs and polls next to many finished jobs and with many apps, compared with few of one app
  --finished 1000,100000
  --apps 1,100         with a key, a budget and routes each
  --workspaces 1       over which the apps are spread
  --days 29            over which the finished jobs are spread
  --jobs 400           of each table, in each of --rounds 4
  --polls 3000         likewise
job-polls      a poll next to few and to many finished jobs
  --few 1000
  --many 1000000
  --polls 12000        of each
job-uploads    resident memory while many long recordings are submitted at once
  --uploads 10
  --size 500MiB        of each file, header included
request-log    lists of requests and usage of 30 days over many rows, on a server
  --rows 1000000
  --asks 100           of each question
realtime       live audio through the WebSocket, compared with the same straight to the sandbox
  --seconds 60         of each recording, at real time
  --streams 8          at once
  --find-limit         instead: doubles the streams, then halves the distance, until the added p95 passes 20 ms
latency        plain chat: delay added to a provider that answers after 20 ms, and the frontier: requests/s at a p99
  --seconds 4          of load for each, in four rounds; longer for a few connections, for 1,500 requests of each. With 2, an engine takes three minutes
  --connections 1,4,16,64
  --engine postgres    or embedded; else both
keyed-latency  keyed transcriptions on PostgreSQL 18 and on the oldest supported server, in turns
  --seconds 24         of load for each server
  --connections 2
  --bin DIR            programs of another server, besides; may be given again
local          models on this machine, compared with the engine called directly: added latency, real-time factor, memory, cold start
  --rounds 60          of each model and length of audio
  --starts 7           of each model
goals          every goal of speed and memory, three times, in about 50 minutes: Markdown tables, and a line of JSON for each step
  --runs 3             the whole list, then again; 0: only the tables of what the file has
  --only NAME,…        ${STEP_NAMES.join(", ")}
  --out goals.jsonl    gets the lines; a step that is measured again replaces its earlier lines in the tables
--json prints the result's JSON alone.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string" },
    seconds: { type: "string" },
    streams: { type: "string" },
    "find-limit": { type: "boolean", default: false },
    connections: { type: "string" },
    processes: { type: "string", default: "1" },
    peer: { type: "string" },
    uploads: { type: "string" },
    idle: { type: "string", default: "60" },
    jobs: { type: "string" },
    finished: { type: "string", default: "1000,100000" },
    apps: { type: "string", default: "1,100" },
    workspaces: { type: "string", default: "1" },
    days: { type: "string", default: "29" },
    singles: { type: "string", default: "100" },
    webhook: { type: "boolean", default: false },
    few: { type: "string", default: "1000" },
    many: { type: "string", default: "1000000" },
    polls: { type: "string" },
    rows: { type: "string", default: "1000000" },
    asks: { type: "string", default: "100" },
    rounds: { type: "string" },
    starts: { type: "string", default: "7" },
    runs: { type: "string", default: "3" },
    only: { type: "string" },
    out: { type: "string", default: "goals.jsonl" },
    engine: { type: "string" },
    bin: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const { engine = "postgres" } = values;
if (values.help || (engine !== "embedded" && engine !== "postgres")) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const OVERVIEW = "overview";
const BENCHES: Readonly<Record<string, () => Promise<Report | readonly Report[]>>> = {
  [OVERVIEW]: () => benchOverview({ seconds: positive("seconds", values.seconds ?? "3") }),
  transcription: () =>
    benchTranscription({
      sizeBytes: parseBytes(values.size ?? "1MiB"),
      seconds: positive("seconds", values.seconds ?? "8"),
      connections: positive("connections", values.connections ?? "32"),
      processes: positive("processes", values.processes),
      engine,
    }),
  chat: () =>
    benchChat({
      seconds: positive("seconds", values.seconds ?? "8"),
      connections: list("connections", values.connections ?? "32,256"),
      processes: positive("processes", values.processes),
      engine,
      peer: values.peer ?? null,
    }),
  memory: async () => {
    const start = await benchStartMemory({ idleSeconds: positive("idle", values.idle) });
    if (values.uploads === "0") return start;
    const uploads = positive("uploads", values.uploads ?? "200");
    return [start, await benchUploadMemory({ sizeBytes: parseBytes(values.size ?? "25MiB"), uploads })];
  },
  jobs: () => {
    const processes = positive("processes", values.processes);
    const burst = {
      jobs: positive("jobs", values.jobs ?? "1000"),
      connections: positive("connections", values.connections ?? "16"),
    };
    if (processes > 1) return benchJobProcesses({ ...burst, processes });
    return (values.webhook ? benchDeliveries : benchJobs)({ ...burst, singles: positive("singles", values.singles) });
  },
  "job-growth": () =>
    benchJobGrowth({
      finished: list("finished", values.finished),
      apps: list("apps", values.apps),
      workspaces: positive("workspaces", values.workspaces),
      days: positive("days", values.days),
      jobs: positive("jobs", values.jobs ?? "400"),
      polls: positive("polls", values.polls ?? "3000"),
      rounds: positive("rounds", values.rounds ?? "4"),
    }),
  "job-polls": () =>
    benchJobPolls({
      few: positive("few", values.few),
      many: positive("many", values.many),
      polls: positive("polls", values.polls ?? "12000"),
    }),
  "request-log": () => benchRequestLog({ rows: positive("rows", values.rows), asks: positive("asks", values.asks) }),
  realtime: () =>
    values["find-limit"]
      ? benchRealtimeLimit({
          from: positive("streams", values.streams ?? "100"),
          seconds: positive("seconds", values.seconds ?? "5"),
        })
      : benchRealtime({
          seconds: positive("seconds", values.seconds ?? "60"),
          streams: positive("streams", values.streams ?? "8"),
        }),
  latency: () =>
    benchLatency({
      seconds: positive("seconds", values.seconds ?? "4"),
      connections: list("connections", values.connections ?? "1,4,16,64"),
      engines: values.engine === undefined ? ["embedded", "postgres"] : [engine],
    }),
  "keyed-latency": () =>
    benchKeyedLatency({
      seconds: positive("seconds", values.seconds ?? "24"),
      connections: positive("connections", values.connections ?? "2"),
      bins: values.bin,
    }),
  local: () =>
    benchLocal({ rounds: positive("rounds", values.rounds ?? "60"), starts: positive("starts", values.starts) }),
  goals: () =>
    benchGoals({
      runs: values.runs === "0" ? 0 : positive("runs", values.runs),
      only: values.only === undefined ? null : chosen(values.only, STEP_NAMES),
      file: values.out,
    }),
  "job-uploads": () =>
    benchJobUploads({
      sizeBytes: parseBytes(values.size ?? "500MiB"),
      uploads: positive("uploads", values.uploads ?? "10"),
    }),
};

// An interrupt exits normally, which ends all child processes.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const names = positionals.length === 0 ? [OVERVIEW] : positionals;
for (const name of names) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`There is no benchmark ${name}.\n\n${USAGE}`);
    process.exit(2);
  }
  const before = await worthOfCores();
  const reports = [await bench()].flat();
  const worth = [before, await worthOfCores()];
  for (const report of reports) printReport(report, worth, values.json);
}

function list(name: string, text: string): readonly number[] {
  return text.split(",").map((each) => positive(name, each));
}

function chosen(text: string, names: readonly string[]): readonly string[] {
  const unknown = text.split(",").find((each) => !names.includes(each));
  if (unknown === undefined) return text.split(",");
  console.error(`There is no ${unknown}. There are ${names.join(", ")}.`);
  process.exit(2);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  console.error(`--${name} must be a number above 0, not ${text}.`);
  process.exit(2);
}
