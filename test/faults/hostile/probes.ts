// Measures how a trial affects unrelated requests: sequential requests that need no provider.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";
import { beginStretch, type Stretch, describeTime } from "../processor-time.ts";

const PROBE_MS = 100;

export interface Probes {
  /** Duration of each in milliseconds, without waiting for a processor; infinite if it was not served. */
  stop(): Promise<readonly number[]>;
  /** The slowest one: when it was sent, and how much of its duration was spent waiting for a processor. */
  slowest(): string;
}

interface Probe extends Stretch {
  readonly askedAtMs: number;
  readonly status: number | null;
}

export function keepProbing(origin: string, secret: string, gatewayPid: number): Probes {
  const startedMs = performance.now();
  const times: number[] = [];
  const over = new AbortController();
  let slowest: Probe | null = null;
  const probing = (async () => {
    while (!over.signal.aborted) {
      const askedAtMs = performance.now() - startedMs;
      const ends = beginStretch(gatewayPid);
      const question = { method: "GET", path: "/v1/me", headers: { authorization: `Bearer ${secret}` } };
      const { status } = await askHttp(origin, false, question);
      const took = ends();
      times.push(status === 200 ? Math.max(0, took.ms - took.waitedMs) : Number.POSITIVE_INFINITY);
      if (slowest === null || took.ms > slowest.ms) slowest = { ...took, askedAtMs, status };
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
      const { ms, askedAtMs, status, gateway, trial } = slowest;
      return `${ms.toFixed(0)} ms (${status ?? "no answer"}), asked after ${(askedAtMs / 1_000).toFixed(1)} s; meanwhile the gateway ${describeTime(gateway)}, the trial itself ${describeTime(trial)}`;
    },
  };
}

/** Connections rejected by full listen queues, on the whole machine since it started. */
export function listenOverflows(): number {
  const [names = "", values = ""] = readFileSync("/proc/net/netstat", "latin1")
    .split("\n")
    .filter((line) => line.startsWith("TcpExt:"));
  return Number(values.split(" ")[names.split(" ").indexOf("ListenOverflows")] ?? Number.NaN);
}
