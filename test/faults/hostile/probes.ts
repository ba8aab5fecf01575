// What everybody else notices of a trial: requests that need no provider, one after the other.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";

const PROBE_MS = 100;

export interface Probes {
  /** How long each took, in milliseconds, but for what it waited for a processor; for ever, when it was not served. */
  stop(): Promise<readonly number[]>;
  /** Of the one that took longest: when it was, and how much of it somebody waited for a processor. */
  slowest(): string;
}

interface Probe {
  readonly ms: number;
  readonly askedAtMs: number;
  readonly status: number | null;
  readonly gateway: ProcessorTime;
  readonly trial: ProcessorTime;
}

export function keepProbing(origin: string, secret: string, gatewayPid: number): Probes {
  const startedMs = performance.now();
  const times: number[] = [];
  const over = new AbortController();
  let slowest: Probe | null = null;
  const probing = (async () => {
    while (!over.signal.aborted) {
      const askedMs = performance.now();
      const [gateway, trial] = [processorTime(gatewayPid), processorTime(process.pid)];
      const question = { method: "GET", path: "/v1/me", headers: { authorization: `Bearer ${secret}` } };
      const { status } = await askHttp(origin, false, question);
      const took = performance.now() - askedMs;
      const meanwhile = {
        gateway: since(gateway, processorTime(gatewayPid)),
        trial: since(trial, processorTime(process.pid)),
      };
      // A machine that does other things is not the gateway's doing. Both may have waited at the same moment: one of them is taken off.
      const waited = Math.max(meanwhile.gateway.waitedMs, meanwhile.trial.waitedMs);
      times.push(status === 200 ? Math.max(0, took - waited) : Number.POSITIVE_INFINITY);
      if (slowest === null || took > slowest.ms)
        slowest = { ms: took, askedAtMs: askedMs - startedMs, status, ...meanwhile };
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
      return `${ms.toFixed(0)} ms (${status ?? "no answer"}), asked after ${(askedAtMs / 1_000).toFixed(1)} s; meanwhile the gateway ${told(gateway)}, the trial itself ${told(trial)}`;
    },
  };
}

/** Of a process's main thread: how long it ran, and how long it was ready to and had no processor, as the kernel counts it. */
interface ProcessorTime {
  readonly ranMs: number;
  readonly waitedMs: number;
}

function processorTime(pid: number): ProcessorTime {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

function since(before: ProcessorTime, now: ProcessorTime): ProcessorTime {
  return { ranMs: now.ranMs - before.ranMs, waitedMs: now.waitedMs - before.waitedMs };
}

function told({ ranMs, waitedMs }: ProcessorTime): string {
  return `ran ${ranMs.toFixed(0)} ms and waited ${waitedMs.toFixed(0)} ms for a processor`;
}

/** Connections that found no place in a listener's queue, on the whole machine since it started. */
export function turnedAway(): number {
  const [names = "", values = ""] = readFileSync("/proc/net/netstat", "latin1")
    .split("\n")
    .filter((line) => line.startsWith("TcpExt:"));
  return Number(values.split(" ")[names.split(" ").indexOf("ListenOverflows")] ?? Number.NaN);
}
