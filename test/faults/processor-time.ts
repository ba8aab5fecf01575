// Measures how long a process waited for a processor, from the kernel's counters, so that a busy machine is not blamed on the gateway.
import { readFileSync } from "node:fs";

/** Of a process's main thread: time running, and time runnable without a processor. */
export interface ProcessorTime {
  readonly ranMs: number;
  readonly waitedMs: number;
}

export interface Stretch {
  readonly ms: number;
  readonly gateway: ProcessorTime;
  /** Of this process. */
  readonly trial: ProcessorTime;
  /** Part of `ms`. If both waited at the same moment, it is counted once. */
  readonly waitedMs: number;
}

/** Measures until the returned function is called. */
export function beginStretch(gatewayPid: number): () => Stretch {
  const startedMs = performance.now();
  const [gateway, trial] = [processorTime(gatewayPid), processorTime(process.pid)];
  return () => {
    const ms = performance.now() - startedMs;
    const elapsed = {
      gateway: since(gateway, processorTime(gatewayPid)),
      trial: since(trial, processorTime(process.pid)),
    };
    return { ms, ...elapsed, waitedMs: Math.max(elapsed.gateway.waitedMs, elapsed.trial.waitedMs) };
  };
}

export function describeTime({ ranMs, waitedMs }: ProcessorTime): string {
  return `ran ${ranMs.toFixed(0)} ms and waited ${waitedMs.toFixed(0)} ms for a processor`;
}

function processorTime(pid: number): ProcessorTime {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

function since(before: ProcessorTime, now: ProcessorTime): ProcessorTime {
  return { ranMs: now.ranMs - before.ranMs, waitedMs: now.waitedMs - before.waitedMs };
}
