// Injects faults into job workers, the gateway, the database and the provider during a run. What and when is seeded, but not the state of the processes at that
// moment.
import { setTimeout as wait } from "node:timers/promises";
import type { PostgresServer } from "../../harness/postgres/postgres-server.ts";
import { seeded } from "../seeded.ts";
import type { CountingSandbox } from "./counting-sandbox.ts";
import { type PatchbayProcess, StuckStart } from "./patchbay-process.ts";

export interface ChaosCounts {
  workerKills: number;
  gatewayKills: number;
  /** Workers frozen for longer than a lease, then continued. */
  freezes: number;
  databaseRestarts: number;
  databaseCrashes: number;
  /** Exits of processes that were not killed. */
  selfInflicted: number;
}

export interface Chaos {
  readonly counts: Readonly<ChaosCounts>;
  /** Last output of processes that neither started nor exited. */
  readonly stuckStarts: readonly string[];
  /** Continues frozen processes, starts dead ones, and injects no more faults. */
  calm(): Promise<void>;
}

export interface ChaosOptions {
  readonly seed: number;
  readonly postgres: PostgresServer;
  readonly sandbox: CountingSandbox;
  readonly gateway: PatchbayProcess;
  readonly workers: readonly PatchbayProcess[];
}

const LEASE_MS = 30_000;
const SUPERVISE_MS = 500;
const KILLS: Range = [2_000, 6_000];

export function startChaos({ seed, postgres, sandbox, gateway, workers }: ChaosOptions): Chaos {
  const over = new AbortController();
  const { signal } = over;
  const counts: ChaosCounts = {
    workerKills: 0,
    gatewayKills: 0,
    freezes: 0,
    databaseRestarts: 0,
    databaseCrashes: 0,
    selfInflicted: 0,
  };
  const stuckStarts: string[] = [];
  const start = (target: PatchbayProcess) => startAgain(target, stuckStarts);
  /** Processes under a fault at the moment. */
  const busyProcesses = new Set<PatchbayProcess>();

  /** Each kind of fault has its own random numbers, so that the duration of one does not shift the others. */
  const every = async (salt: number, [least, most]: Range, trouble: (random: () => number) => Promise<void>) => {
    const random = seeded(seed * 31 + salt);
    while (!signal.aborted) {
      await pause(between(random, [least, most]), signal);
      if (!signal.aborted) await trouble(random);
    }
  };
  const hold = async (target: PatchbayProcess, work: () => Promise<void>): Promise<void> => {
    busyProcesses.add(target);
    try {
      await work();
    } finally {
      busyProcesses.delete(target);
    }
  };
  const pick = (random: () => number): PatchbayProcess | null => {
    const free = workers.filter((worker) => worker.isRunning && !busyProcesses.has(worker));
    return free[Math.floor(random() * free.length)] ?? null;
  };

  const killAWorker = async (random: () => number): Promise<void> => {
    const target = pick(random);
    if (target === null) return;
    await hold(target, async () => {
      await target.kill();
      counts.workerKills += 1;
      await pause(between(random, [0, 2_000]), signal);
      await start(target);
    });
  };

  const loops = [
    every(1, KILLS, killAWorker),
    // Occasionally two at once, because a start takes time.
    every(7, KILLS, killAWorker),
    every(2, [4_000, 10_000], async (random) => {
      const target = pick(random);
      // At least one worker must remain to take over.
      if (target === null || workers.length - busyProcesses.size < 2) return;
      await hold(target, async () => {
        target.stop();
        await pause(between(random, [LEASE_MS + 3_000, LEASE_MS + 20_000]), signal);
        target.resume();
        if (!signal.aborted) counts.freezes += 1;
      });
    }),
    every(3, [5_000, 10_000], async (random) => {
      const crash = random() < 0.5;
      await postgres.restart({ crash, downMs: between(random, [0, 2_000]) });
      counts.databaseRestarts += 1;
      if (crash) counts.databaseCrashes += 1;
    }),
    every(4, [25_000, 50_000], async () => {
      await hold(gateway, async () => {
        await gateway.kill();
        counts.gatewayKills += 1;
        await start(gateway);
      });
    }),
    every(5, [1_000, 1_000], (random) => sandbox.setDelay(between(random, [20, 1_500]))),
    every(6, [SUPERVISE_MS, SUPERVISE_MS], async () => {
      for (const process of [gateway, ...workers]) {
        if (process.isRunning || busyProcesses.has(process)) continue;
        counts.selfInflicted += 1;
        await hold(process, () => start(process));
      }
    }),
  ];
  return {
    counts,
    stuckStarts,
    async calm() {
      over.abort();
      await Promise.all(loops);
      for (const process of [gateway, ...workers]) {
        process.resume();
        await start(process);
      }
      await sandbox.setDelay(0);
    },
  };
}

/** A process that finds no database at its start exits, and its supervisor restarts it. */
async function startAgain(process: PatchbayProcess, stuck: string[]): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    try {
      await process.start();
      return;
    } catch (error) {
      if (error instanceof StuckStart) stuck.push(error.message);
      await wait(SUPERVISE_MS);
    }
  }
  throw new Error(`${process.name} does not start`);
}

type Range = readonly [number, number];

function between(random: () => number, [least, most]: Range): number {
  return least + random() * (most - least);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
