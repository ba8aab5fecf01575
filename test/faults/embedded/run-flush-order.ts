// Checks with strace that nothing is announced that a power cut could undo: no dispatch to a provider, no 202 and no keyed answer leaves the gateway before the
// write-ahead log with its commit is flushed to disk.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startSandbox } from "../../../sandbox/server.ts";
import { median } from "../../../bench/measure/report.ts";
import { askHttp } from "../ask-http.ts";
import { KINDS, type Kind, question } from "../failover/keyed-client.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { judgeFlushOrder, type Traced } from "./judge-flush-order.ts";
import { prepareOwnGateway } from "./own-gateway.ts";
import { serverProcesses } from "./server-processes.ts";
import { attach, readCalls } from "./strace.ts";
import { speechAndChat } from "../speech-and-chat.ts";

const SECRET = "faults-key-of-the-order-of-flushes";
const WARM_UP = 2;
const POLL_MS = 50;
const JOB_MS = 60_000;

export async function runFlushOrder({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const skipped = (reason: string): Trials => ({
    engine: "embedded",
    n: 0,
    violations: [],
    seconds: (performance.now() - started) / 1000,
    figures: { skipped: reason },
  });
  if (spawnSync("strace", ["-V"]).error !== undefined)
    return skipped("strace is not installed (Debian: apt-get install strace)");
  await using opened = new AsyncDisposableStack();
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const gateway = await prepareOwnGateway(speechAndChat(sandbox, { app: SECRET }), opened);
  await gateway.process.start();
  const origin = gateway.process.origin ?? "";
  for (const kind of KINDS)
    for (let index = 0; index < WARM_UP; index += 1) await ask(origin, kind, `warm-${index}-end`);
  const folder = join(gateway.folder, "strace");
  await mkdir(folder);
  const { postmasters } = await serverProcesses(gateway.dataDir);
  const backends = postmasters.flatMap(childrenOf);
  const tracing = await attach([gateway.process.pid ?? 0, ...postmasters, ...backends], folder);
  if (tracing === null)
    return skipped("strace may not attach to processes here (ptrace_scope, or a container without SYS_PTRACE)");
  const traced: Traced[] = [];
  try {
    for (let index = 0; index < n; index += 1) {
      const kind = KINDS[index % KINDS.length] ?? "transcription";
      traced.push(await ask(origin, kind, `flush-${seed}-${index}-end`));
      say(`${index + 1}/${n}`);
    }
  } finally {
    await tracing.stop();
  }
  const { violations, events } = judgeFlushOrder(traced, await readCalls(folder));
  if (events.length === 0) return { ...skipped("no event was seen in order"), violations };
  const ms = (of: (event: (typeof events)[number]) => number): string => median(events.map(of)).toFixed(1);
  return {
    engine: "embedded",
    n: events.length,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      requests: `${traced.length}, one after the other`,
      events: Object.entries(Object.groupBy(events, ({ what, kind }) => `${what} of a ${kind}`))
        .map(
          ([what, list]) =>
            `${what} × ${list.length}, at least ${Math.min(...list.map(({ flushed }) => flushed))} transactions of its own on disk before it`,
        )
        .join("; "),
      "from the flush to what waits for it": `median ${ms(({ afterMs }) => afterMs)} ms, at least ${Math.min(...events.map(({ afterMs }) => afterMs)).toFixed(2)} ms`,
      "a flush took": `median ${ms(({ flushMs }) => flushMs)} ms`,
    },
  };
}

/** Waits for a job's end, so that requests do not overlap. */
async function ask(origin: string, kind: Kind, name: string): Promise<Traced> {
  const answer = await askHttp(origin, false, question({ kind, name, isImpatient: false }, SECRET));
  const requestId = answer.headers["x-request-id"] ?? "";
  const jobId = kind === "job" ? (/"job_id":"([^"]+)"/u.exec(answer.text)?.[1] ?? null) : null;
  if (jobId !== null) await untilJobEnds(origin, jobId);
  return { kind, name, requestId, jobId, status: answer.status };
}

async function untilJobEnds(origin: string, jobId: string): Promise<void> {
  const lastMs = performance.now() + JOB_MS;
  while (performance.now() < lastMs) {
    const { text } = await askHttp(origin, false, {
      method: "GET",
      path: `/v1/transcription/jobs/${jobId}`,
      headers: { authorization: `Bearer ${SECRET}` },
    });
    if (!/"status":"(?:queued|processing)"/u.test(text)) return;
    await wait(POLL_MS);
  }
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}
