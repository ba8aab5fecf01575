// `npm run bench -- realtime --find-limit`: the number of live streams at which the delay added to a text passes 20 ms at the 95th percentile. Doubles the
// streams, then halves the distance, on one gateway.
import { cpuMsOf } from "./cost.ts";
import { addedMs, openSides, type Sides, speakPairs } from "./realtime.ts";
import { median, quantile, type Report, round } from "./measure/report.ts";

export interface RealtimeLimit {
  readonly from: number;
  /** Of each recording. */
  readonly seconds: number;
}

const LIMIT_MS = 20;
/** The streams of a step start within this time, and only texts that come while all of them are open count. */
const SPREAD_MS = 3_000;
/** Of the number of streams. */
const PRECISION = 0.13;
const MOST_STREAMS = 6_400;

interface Step {
  readonly streams: number;
  readonly texts: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Share of one core. */
  readonly gatewayCores: number;
  readonly benchCores: number;
}

export async function benchRealtimeLimit({ from, seconds }: RealtimeLimit): Promise<Report> {
  await using sides = await openSides();
  const steps: Step[] = [];
  const isWithin = async (streams: number): Promise<boolean> => {
    const measured = await step(sides, streams, seconds);
    steps.push(measured);
    return measured.p95Ms <= LIMIT_MS;
  };
  let below = 0;
  let above = from;
  while (above <= MOST_STREAMS && (await isWithin(above))) {
    below = above;
    above *= 2;
  }
  while (above - below > below * PRECISION) {
    const middle = Math.round((above + below) / 2);
    if (await isWithin(middle)) below = middle;
    else above = middle;
  }
  return {
    name: "realtime-limit",
    rows: steps.map((each) => ({
      streams: each.streams,
      texts: each.texts,
      "added median, ms": each.medianMs,
      "added p95, ms": each.p95Ms,
      "gateway, cores": each.gatewayCores,
      "callers and sandbox, cores": each.benchCores,
    })),
    notes: [
      `${below} streams at once stay within ${LIMIT_MS} ms at the 95th percentile, ${above} do not`,
      `each stream ${seconds} s of 16 kHz samples in chunks of 100 ms at real time, once through the gateway and once straight to the sandbox; texts count that come while all streams are open`,
      "callers, sandbox and the streams without gateway share one process, the gateway and its database have others",
    ],
    data: { limitMs: LIMIT_MS, below, above, steps },
  };
}

async function step(sides: Sides, streams: number, seconds: number): Promise<Step> {
  const before = { gatewayMs: cpuMsOf(sides.gateway.pid), own: process.cpuUsage(), atMs: performance.now() };
  const pairs = await speakPairs(sides, { streams, seconds, staggerMs: SPREAD_MS / streams });
  const elapsedMs = performance.now() - before.atMs;
  const own = process.cpuUsage(before.own);
  const added = addedMs(pairs, (atMs) => atMs > SPREAD_MS && atMs < seconds * 1000 - SPREAD_MS);
  return {
    streams,
    texts: added.length,
    medianMs: round(median(added), 1),
    p95Ms: round(quantile(added, 0.95), 1),
    gatewayCores: round((cpuMsOf(sides.gateway.pid) - before.gatewayMs) / elapsedMs, 2),
    benchCores: round((own.user + own.system) / 1000 / elapsedMs, 2),
  };
}
