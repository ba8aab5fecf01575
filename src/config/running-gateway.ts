// Reads and writes the file in a data directory that records where its gateway listens, so that commands on the same machine find it.
import { readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { isRunning, startOf } from "../lib/process-identity.ts";
import { field, text } from "./raw-data.ts";

export const RUNNING_FILE = "gateway.json";

export interface RunningGateway {
  readonly pid: number;
  readonly url: string;
  /** Null: it has no admin listener. */
  readonly adminUrl: string | null;
  /** Listeners that the command line overrode. */
  readonly overridden: { readonly url: boolean; readonly adminUrl: boolean };
  /** It is shutting down and finishes what is in progress. */
  readonly isStopping: boolean;
}

/** Null: no gateway runs on this data directory. */
export function readRunningGateway(dataDir: string): RunningGateway | null {
  const source = readOrNull(join(dataDir, RUNNING_FILE));
  const record: unknown = source === null ? null : parseOrNull(source);
  const pid = Number(field(record, "pid"));
  const url = text(record, "url");
  const isAlive = url !== undefined && isRunning(pid, text(record, "start") ?? "");
  if (!isAlive) return null;
  const overridden = field(record, "overridden");
  return {
    pid,
    url,
    adminUrl: text(record, "admin_url") ?? null,
    overridden: { url: field(overridden, "url") === true, adminUrl: field(overridden, "admin_url") === true },
    isStopping: field(record, "stopping") === true,
  };
}

/** The first of several gateways on a directory keeps its record until it stops. Returns false if another one has it. */
export async function writeRunningGateway(dataDir: string, gateway: Omit<RunningGateway, "pid">): Promise<boolean> {
  const other = readRunningGateway(dataDir);
  if (other !== null && other.pid !== process.pid && !other.isStopping) return false;
  const record = {
    pid: process.pid,
    start: startOf(process.pid),
    url: gateway.url,
    admin_url: gateway.adminUrl,
    overridden: { url: gateway.overridden.url, admin_url: gateway.overridden.adminUrl },
    stopping: gateway.isStopping,
  };
  const path = join(dataDir, RUNNING_FILE);
  const temporaryPath = `${path}.${process.pid}`;
  await writeFile(temporaryPath, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(temporaryPath, path);
  return true;
}

/** Removes the record of this process, if there is one. */
export async function removeRunningGateway(dataDir: string): Promise<void> {
  if (readRunningGateway(dataDir)?.pid === process.pid) await rm(join(dataDir, RUNNING_FILE), { force: true });
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null;
  }
}

function parseOrNull(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}
