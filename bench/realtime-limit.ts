// `npm run bench -- realtime --find-limit`: the number of live streams at which the delay added to a text passes 20 ms at the 95th percentile. Doubles the
// streams, then halves the distance, on one gateway.
import { setTimeout as wait } from "node:timers/promises";
import { cpuMsOf } from "./cost.ts";
import { addedMs, openSides, type Sides, speakPairs } from "./realtime.ts";
import { median, quantile, type Report, round } from "./measure/report.ts";

export interface RealtimeLimit {
  readonly from: number;
  /** In which all streams of a step are open. */
  readonly seconds: number;
}

const LIMIT_MS = 20;
/** Between the starts of two streams: opening one costs more than a second of it. */
const STAGGER_MS = 10;
/** Of the number of streams. */
const PRECISION = 0.13;
const MOST_STREAMS = 6_400;

export interface StreamFigures {
  readonly streams: number;
  /** That were refused or broke off. */
  readonly failed: number;
  readonly texts: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Share of one core. */
  readonly gatewayCores: number;
  readonly benchCores: number;
}

export async function benchRealtimeLimit({ from, seconds }: RealtimeLimit): Promise<Report> {
  await using sides = await openSides();
  const steps: StreamFigures[] = [];
  const isWithin = async (streams: number): Promise<boolean> => {
    const measured = await measureStreams(sides, streams, seconds);
    steps.push(measured);
    return measured.failed === 0 && measured.p95Ms <= LIMIT_MS;
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
      failed: each.failed,
      texts: each.texts,
      "added median, ms": each.medianMs,
      "added p95, ms": each.p95Ms,
      "gateway, cores": each.gatewayCores,
      "callers and sandbox, cores": each.benchCores,
    })),
    notes: [
      `${below} streams at once stay within ${LIMIT_MS} ms at the 95th percentile, ${above} do not`,
      `16 kHz samples in chunks of 100 ms at real time, each stream once through the gateway and once straight to the sandbox; texts count that come in the ${seconds} s in which all streams are open`,
      "callers, sandbox and the streams without gateway share one process, the gateway and its database have others",
    ],
    data: { limitMs: LIMIT_MS, below, above, steps },
  };
}

/** `seconds`: in which all streams are open. */
export async function measureStreams(sides: Sides, streams: number, seconds: number): Promise<StreamFigures> {
  const openingMs = streams * STAGGER_MS;
  const lastMs = openingMs + seconds * 1000;
  const started = Promise.allSettled(speakPairs(sides, { streams, seconds: lastMs / 1000, staggerMs: STAGGER_MS }));
  await wait(openingMs);
  const before = { gatewayMs: cpuMsOf(sides.gateway.pid), own: process.cpuUsage(), atMs: performance.now() };
  await wait(seconds * 1000);
  const elapsedMs = performance.now() - before.atMs;
  const own = process.cpuUsage(before.own);
  const gatewayMs = cpuMsOf(sides.gateway.pid) - before.gatewayMs;
  const settled = await started;
  const added = settled.flatMap((each, index) => {
    const isCounted = (atMs: number): boolean => {
      const sinceMs = index * STAGGER_MS + atMs;
      return sinceMs > openingMs && sinceMs < lastMs;
    };
    return each.status === "fulfilled" ? addedMs(each.value, isCounted) : [];
  });
  return {
    streams,
    failed: settled.filter(({ status }) => status === "rejected").length,
    texts: added.length,
    medianMs: round(median(added), 1),
    p95Ms: round(quantile(added, 0.95), 1),
    gatewayCores: round(gatewayMs / elapsedMs, 2),
    benchCores: round((own.user + own.system) / 1000 / elapsedMs, 2),
  };
}
