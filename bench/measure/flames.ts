// Profiles one gateway on PostgreSQL with V8's profiler, workload by workload.
import { chatting, MODES } from "../chat.ts";
import type { Running } from "./child-process.ts";
import { chat, transcription } from "../upstream/contenders.ts";
import type { Databases } from "./databases.ts";
import { unfinishedJobs } from "../jobs/job-api.ts";
import { JOB_BYTES, JOB_CONNECTIONS, JOBS_PATH } from "../jobs/job-rows.ts";
import { KEY, startChatStandIn, startStandIn } from "./processes.ts";
import { type Profiled, profiled } from "./profiled.ts";
import { round, table } from "./report.ts";
import { uploading } from "../transcription.ts";

const MIB = 1_048_576;
const UPLOADS = [
  { what: "transcription, 1 MiB", sizeBytes: MIB, connections: 16 },
  { what: "transcription, 25 MiB", sizeBytes: 25 * MIB, connections: 8 },
] as const;
const CHAT_CONNECTIONS = 32;
const LONGEST_SECONDS = 120;

export interface Flame extends Profiled {
  readonly workload: string;
}

export async function whereTimeGoes(databases: Databases): Promise<readonly Flame[]> {
  const flames: Flame[] = [];
  const flame = async (
    workload: string,
    standIn: Running,
    load: (origin: string, seconds: number) => Promise<{ readonly requests: number }>,
  ) => {
    const target = { providerUrl: standIn.origin, databaseUrl: await databases.create() };
    flames.push({ workload, ...(await profiled(target, ({ origin }, seconds) => load(origin, seconds))) });
  };
  await using standIn = await startStandIn();
  const { gateway: path } = transcription(standIn.origin).paths;
  for (const { what, sizeBytes, connections } of UPLOADS)
    await flame(what, standIn, (origin, seconds) =>
      uploading(sizeBytes, connections)({ origin, path, headers: {} }, seconds),
    );
  await flame("job, 64 KiB", standIn, async (origin, seconds) => {
    const loaded = await uploading(JOB_BYTES, JOB_CONNECTIONS)({ origin, path: JOBS_PATH, headers: {} }, seconds);
    await unfinishedJobs(origin, KEY, LONGEST_SECONDS);
    return loaded;
  });
  await using chatStandIn = await startChatStandIn();
  const asGateway = { path: chat(chatStandIn.origin).paths.gateway, headers: {}, kind: "gateway" } as const;
  for (const mode of MODES)
    await flame(`chat, ${mode}`, chatStandIn, (origin, seconds) =>
      chatting(mode, CHAT_CONNECTIONS)({ origin, ...asGateway }, seconds),
    );
  return flames;
}

/** One column per workload; code areas in descending order of their largest share. */
export function flameTable(all: readonly Flame[]): string {
  const most = new Map<string, number>();
  for (const { profile } of all)
    for (const { name, share } of profile.rooms) most.set(name, Math.max(share, most.get(name) ?? 0));
  const names = [...most].toSorted(([, left], [, right]) => right - left).map(([name]) => name);
  return table(
    names.map((name) => ({
      what: name,
      ...Object.fromEntries(
        all.map(({ workload, requests, profile }) => {
          const room = profile.rooms.find((each) => each.name === name);
          const text = room === undefined ? "" : `${round(room.ms / requests, 3)} (${round(room.share * 100, 0)} %)`;
          return [workload, text];
        }),
      ),
    })),
  );
}
