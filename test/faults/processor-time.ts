// A machine that does other things is not the gateway's doing: what a process waited for a processor, as the kernel counts it.
import { readFileSync } from "node:fs";

/** Of a process's main thread: how long it ran, and how long it was ready to and had no processor. */
export interface ProcessorTime {
  readonly ranMs: number;
  readonly waitedMs: number;
}

export interface Stretch {
  readonly ms: number;
  readonly gateway: ProcessorTime;
  /** Of this process. */
  readonly trial: ProcessorTime;
  /** Of `ms`. Both may have waited at the same moment: one of them is counted. */
  readonly waitedMs: number;
}

/** From now on, until what it answers is called. */
export function beginStretch(gatewayPid: number): () => Stretch {
  const startedMs = performance.now();
  const [gateway, trial] = [processorTime(gatewayPid), processorTime(process.pid)];
  return () => {
    const ms = performance.now() - startedMs;
    const meanwhile = {
      gateway: since(gateway, processorTime(gatewayPid)),
      trial: since(trial, processorTime(process.pid)),
    };
    return { ms, ...meanwhile, waitedMs: Math.max(meanwhile.gateway.waitedMs, meanwhile.trial.waitedMs) };
  };
}

export function toldTime({ ranMs, waitedMs }: ProcessorTime): string {
  return `ran ${ranMs.toFixed(0)} ms and waited ${waitedMs.toFixed(0)} ms for a processor`;
}

function processorTime(pid: number): ProcessorTime {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

function since(before: ProcessorTime, now: ProcessorTime): ProcessorTime {
  return { ranMs: now.ranMs - before.ranMs, waitedMs: now.waitedMs - before.waitedMs };
}
