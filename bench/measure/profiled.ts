// Runs one gateway under V8's profiler with one load after a warm-up, and reports where the time was spent.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Running } from "./child-process.ts";
import { type GatewayOptions, startPatchbay } from "./processes.ts";
import { type ProfileSummary, shareTable, summarise } from "./profile-summary.ts";

export interface Profiled {
  readonly requests: number;
  readonly profile: ProfileSummary;
}

const WARM_UP_SECONDS = 3;
const PROFILE_SECONDS = 4;

export async function profiled(
  options: GatewayOptions,
  load: (gateway: Running, seconds: number) => Promise<{ readonly requests: number }>,
): Promise<Profiled> {
  const profileDir = await mkdtemp(join(tmpdir(), "patchbay-profile-"));
  try {
    const window = await underLoad({ ...options, profileDir }, load);
    return { requests: window.requests, profile: summarise(profileDir, window) };
  } finally {
    await rm(profileDir, { recursive: true, force: true });
  }
}

async function underLoad(options: GatewayOptions, load: Parameters<typeof profiled>[1]) {
  // The profile is written at exit, so the process has ended when this returns.
  await using running = await startPatchbay(options);
  await load(running, WARM_UP_SECONDS);
  const fromUs = nowUs();
  const { requests } = await load(running, PROFILE_SECONDS);
  return { fromUs, toUs: nowUs(), requests };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function profileNote(title: string, { requests, profile }: Profiled): string {
  return `where the time goes, ${title} (a further run of ${requests} requests under the profiler, all threads):\n\n${shareTable(profile.rooms, requests)}\n\n${shareTable(profile.functions, requests)}`;
}
