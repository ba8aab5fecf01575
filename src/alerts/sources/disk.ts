// Reports disks of this machine with little free space: that of the data directory, and that of its spool if it is another one [alerts.disk-low].
import { stat } from "node:fs/promises";
import { errorCode } from "../../lib/error-code.ts";
import { freeBytes } from "../../lib/free-disk-space.ts";
import type { Alert } from "../alert.ts";

export interface DiskSource {
  /** Directories by the name that alerts use. */
  readonly directories: Readonly<Record<string, string>>;
  readonly minFreeBytes: number;
  /** Of this machine: each has its own disks. */
  readonly host: string;
  readonly nowMs: () => number;
  /** For tests. */
  readonly free?: (path: string) => Promise<number>;
}

export async function readLowDisks({
  directories,
  minFreeBytes,
  host,
  nowMs,
  free = freeBytes,
}: DiskSource): Promise<readonly Alert[]> {
  const seen = new Set<number>();
  const alerts: Alert[] = [];
  for (const [name, path] of Object.entries(directories)) {
    const device = await deviceOf(path);
    if (device === null || seen.has(device)) continue;
    seen.add(device);
    const bytes = await free(path);
    if (bytes >= minFreeBytes) continue;
    alerts.push({
      event: "disk_low",
      cause: `disk_low/${host}/${name}`,
      workspace: null,
      summary: `${gibibytes(bytes)} GiB are free on the disk of ${name} on ${host}; the limit is ${gibibytes(minFreeBytes)} GiB.`,
      details: { host, directory: name, free_bytes: bytes, limit_bytes: minFreeBytes },
      occurredAt: new Date(nowMs()),
    });
  }
  return alerts;
}

/** Null: the directory does not exist, so nothing is written there. */
async function deviceOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).dev;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
