// What everybody else notices of a trial: requests that need no provider, one after the other.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";

const PROBE_MS = 100;

export interface Probes {
  /** How long each took, in milliseconds; for ever, when it was not served. */
  stop(): Promise<readonly number[]>;
  /** Of the one that took longest: when it was, and how much of it somebody waited for a processor. */
  slowest(): string;
}

interface Probe {
  readonly ms: number;
  readonly askedAtMs: number;
  readonly status: number | null;
  readonly gatewayWaitedMs: number;
  readonly trialWaitedMs: number;
}

export function keepProbing(origin: string, secret: string, gatewayPid: number): Probes {
  const startedMs = performance.now();
  const times: number[] = [];
  const over = new AbortController();
  let slowest: Probe | null = null;
  const probing = (async () => {
    while (!over.signal.aborted) {
      const askedMs = performance.now();
      const [gatewayMs, trialMs] = [waitedForProcessorMs(gatewayPid), waitedForProcessorMs(process.pid)];
      const question = { method: "GET", path: "/v1/me", headers: { authorization: `Bearer ${secret}` } };
      const { status } = await askHttp(origin, false, question);
      const took = performance.now() - askedMs;
      times.push(status === 200 ? took : Number.POSITIVE_INFINITY);
      if (slowest === null || took > slowest.ms)
        slowest = {
          ms: took,
          askedAtMs: askedMs - startedMs,
          status,
          gatewayWaitedMs: waitedForProcessorMs(gatewayPid) - gatewayMs,
          trialWaitedMs: waitedForProcessorMs(process.pid) - trialMs,
        };
      await wait(PROBE_MS);
    }
    return times;
  })();
  return {
    stop: () => {
      over.abort();
      return probing;
    },
    slowest: () => {
      if (slowest === null) return "none";
      const { ms, askedAtMs, status, gatewayWaitedMs, trialWaitedMs } = slowest;
      return (
        `${ms.toFixed(0)} ms (${status ?? "no answer"}), asked after ${(askedAtMs / 1_000).toFixed(1)} s; meanwhile the gateway waited ` +
        `${gatewayWaitedMs.toFixed(0)} ms for a processor, the trial itself ${trialWaitedMs.toFixed(0)} ms`
      );
    },
  };
}

/** How long a process's main thread was ready to run and had no processor, as the kernel counts it. */
function waitedForProcessorMs(pid: number): number {
  const [, waitedNs = "0"] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
  return Number(waitedNs) / 1e6;
}

/** Connections that found no place in a listener's queue, on the whole machine since it started. */
export function turnedAway(): number {
  const [names = "", values = ""] = readFileSync("/proc/net/netstat", "latin1")
    .split("\n")
    .filter((line) => line.startsWith("TcpExt:"));
  return Number(values.split(" ")[names.split(" ").indexOf("ListenOverflows")] ?? Number.NaN);
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MiB`;
}
