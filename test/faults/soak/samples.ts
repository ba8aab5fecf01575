// Samples the resources of a gateway and its database every ten seconds, and checks their bounds: flat memory, files and sockets that return to their baseline,
// disk in proportion to the requests.
import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { median } from "../../../bench/measure/report.ts";
import { memoryOf, sharedOnceBytes } from "../../../bench/cost.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

export interface Sample {
  readonly seconds: number;
  readonly rssBytes: number;
  readonly files: number;
  readonly sockets: number;
  readonly databaseBytes: number;
  readonly walBytes: number;
  /** Of the gateway's data directory. */
  readonly folderBytes: number;
  readonly sent: number;
  readonly inFlight: number;
}

export interface Watched {
  readonly pid: number;
  readonly database: OpenDatabase;
  readonly folder: string;
  /** The data files of the gateway's own server. Null: a separate server. */
  readonly embedded: string | null;
}

export async function takeSample(
  { pid, database, folder, embedded }: Watched,
  load: Pick<Sample, "seconds" | "sent" | "inFlight">,
): Promise<Sample> {
  const { rows } = await sql<{ bytes: string }>`
    select pg_database_size(current_database())::text as bytes`.execute(database.db);
  return {
    ...load,
    // PostgreSQL's processes share their buffers.
    rssBytes: embedded === null ? memoryOf(pid).rssBytes : sharedOnceBytes(pid),
    ...(await openFiles(pid)),
    databaseBytes: Number(rows[0]?.bytes),
    walBytes: embedded === null ? await walOfServer(database) : await sizeOf(join(embedded, "pg_wal")),
    folderBytes: (await sizeOf(folder)) - (embedded === null ? 0 : await sizeOf(embedded)),
  };
}

async function walOfServer({ db }: OpenDatabase): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select sum(size)::text as bytes from pg_ls_waldir()`.execute(db);
  return Number(rows[0]?.bytes);
}

async function openFiles(pid: number): Promise<Pick<Sample, "files" | "sockets">> {
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  const sockets = targets.filter((target) => target.startsWith("socket:")).length;
  return { files: targets.length - sockets, sockets };
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  // A file removed meanwhile counts as empty.
  const sizes = files.map(({ parentPath, name }) =>
    stat(join(parentPath, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const FLAT_MINUTES = 40;
const MOST_GROWTH = 0.05;
/** Bodies and spools have a fixed budget, so a gateway never needs more, however short the run. */
const MOST_RSS_BYTES = 1_024 * 1_048_576;
const MOST_FILES = 200;
const MOST_SOCKETS = 1_000;
/** The default of `max_wal_size` is 1 GiB; a checkpoint may be a segment or two late. */
const MOST_WAL_BYTES = 1.25 * 1_073_741_824;
const MOST_BYTES_PER_REQUEST = 16_384;

export interface Verdict {
  readonly violations: readonly string[];
  readonly figures: Readonly<Record<string, string>>;
}

export function judgeSamples(samples: readonly Sample[]): Verdict {
  const violations: string[] = [];
  const bound = (what: string, value: number, most: number, text = value.toFixed(0)): void => {
    if (!(value <= most)) violations.push(`${what}: ${text}, at most ${most.toFixed(most < 1 ? 2 : 0)}`);
  };
  const most = (of: (sample: Sample) => number) => Math.max(...samples.map(of));
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return { violations: ["no sample was taken"], figures: {} };
  const growth = memoryGrowth(samples);
  if (growth !== null) bound("growth of resident memory", growth, MOST_GROWTH, percent(growth));
  const peakRss = most(({ rssBytes }) => rssBytes);
  bound("resident memory", peakRss, MOST_RSS_BYTES);
  bound(
    "open files",
    most(({ files }) => files),
    MOST_FILES,
  );
  bound(
    "sockets",
    most(({ sockets }) => sockets),
    MOST_SOCKETS,
  );
  bound(
    "bytes of WAL",
    most(({ walBytes }) => walBytes),
    MOST_WAL_BYTES,
  );
  const onDisk = ({ databaseBytes, folderBytes }: Sample) => databaseBytes + folderBytes;
  const perRequest = (onDisk(last) - onDisk(first)) / Math.max(1, last.sent - first.sent);
  bound("bytes on disk per request", perRequest, MOST_BYTES_PER_REQUEST);
  return {
    violations,
    figures: {
      "resident memory": `${mebibytes(first.rssBytes)} at first, ${mebibytes(median(samples.map(({ rssBytes }) => rssBytes)))} median, ${mebibytes(peakRss)} at most, ${growth === null ? "too short a run to judge its growth" : `grown by ${percent(growth)} over the last ${FLAT_MINUTES} minutes (bound ${percent(MOST_GROWTH)})`}`,
      "open files": `at most ${most(({ files }) => files)} (bound ${MOST_FILES})`,
      sockets: `at most ${most(({ sockets }) => sockets)} (bound ${MOST_SOCKETS})`,
      "on disk": `${perRequest.toFixed(0)} bytes per request (bound ${MOST_BYTES_PER_REQUEST}), WAL at most ${mebibytes(most(({ walBytes }) => walBytes))}`,
    },
  };
}

/** From the first to the last ten of the last 40 minutes, by their medians. Null: the run was shorter. */
function memoryGrowth(samples: readonly Sample[]): number | null {
  const endSeconds = samples.at(-1)?.seconds ?? 0;
  const fromSeconds = endSeconds - FLAT_MINUTES * 60;
  // The warm-up of the first minutes is not growth.
  if (fromSeconds < FLAT_MINUTES * 60 * 0.25) return null;
  const quarter = FLAT_MINUTES * 15;
  const within = (from: number, to: number) =>
    median(samples.filter(({ seconds }) => seconds >= from && seconds <= to).map(({ rssBytes }) => rssBytes));
  return within(endSeconds - quarter, endSeconds) / within(fromSeconds, fromSeconds + quarter) - 1;
}

export function sampleTable(samples: readonly Sample[]): string {
  const head = ["seconds", "rss MiB", "files", "sockets", "database MiB", "wal MiB", "folder KiB", "sent", "in flight"];
  const rows = samples.map((each) => [
    each.seconds.toFixed(0),
    (each.rssBytes / 1_048_576).toFixed(1),
    each.files,
    each.sockets,
    (each.databaseBytes / 1_048_576).toFixed(1),
    (each.walBytes / 1_048_576).toFixed(0),
    (each.folderBytes / 1_024).toFixed(0),
    each.sent,
    each.inFlight,
  ]);
  return [head, ...rows]
    .map((row) => row.map((cell, index) => String(cell).padStart(head[index]?.length ?? 0)).join("  "))
    .join("\n");
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;
