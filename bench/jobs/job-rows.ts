// Job rows of the overview: jobs submitted as fast as they are accepted and processed meanwhile, then polled.
import { type Contender, inTurns, type Loaded, measured, type Round } from "../upstream/contenders.ts";
import { finishedJobs, unfinishedJobs } from "./job-api.ts";
import { KEY, runLoad } from "../measure/processes.ts";
import { type Row, rowsOf } from "../rows.ts";
import { uploading } from "../transcription.ts";

export const JOBS_PATH = "/v1/transcription/jobs";
export const JOB_BYTES = 65_536;
export const JOB_CONNECTIONS = 16;
const POLL_CONNECTIONS = 16;
const WARM_UP_SECONDS = 1.5;
const LONGEST_SECONDS = 120;

export async function jobRows(contenders: readonly Contender[], seconds: number): Promise<readonly Row[]> {
  const submitted = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]));
  const endedMs = new Map<string, number[]>();
  const polled = new Map<string, readonly string[]>();
  const run = async (contender: Contender, forSeconds: number): Promise<Loaded> => {
    const { kind, name, origin } = contender;
    const load = uploading(JOB_BYTES, JOB_CONNECTIONS);
    if (kind !== "gateway") {
      const loaded = await load(contender, forSeconds);
      submitted.get(name)?.push({ ...loaded, cpuMs: null, databaseCpuMs: null });
      return loaded;
    }
    const startedMs = performance.now();
    const loaded = await load({ ...contender, path: JOBS_PATH }, forSeconds);
    await unfinishedJobs(origin, KEY, LONGEST_SECONDS);
    submitted.get(name)?.push({ ...loaded, cpuMs: null, databaseCpuMs: null });
    return { ...loaded, seconds: (performance.now() - startedMs) / 1000 };
  };
  for (const contender of contenders) await measured(contender, () => run(contender, WARM_UP_SECONDS));
  for (const rounds of submitted.values()) rounds.length = 0;
  const finished = await inTurns(contenders, seconds, run);
  for (const { name, kind, origin } of contenders) {
    if (kind !== "gateway") continue;
    const last = await finishedJobs(origin, KEY);
    endedMs.set(
      name,
      last.map(({ created_at, finished_at }) => Date.parse(finished_at ?? "") - Date.parse(created_at)),
    );
    polled.set(
      name,
      last.map(({ job_id }) => `${JOBS_PATH}/${job_id}`),
    );
  }
  const poll = ({ name, origin }: Contender, forSeconds: number): Promise<Loaded> =>
    runLoad({
      origin,
      request: { kind: "get", paths: polled.get(name) ?? ["/"] },
      connections: POLL_CONNECTIONS,
      seconds: forSeconds,
      maxRequests: 1_000_000,
      key: KEY,
    });
  const polls = await inTurns(contenders, seconds, poll);
  return [
    ...rowsOf(
      "job, 64 KiB, submitted",
      contenders.map((contender) => ({ contender, rounds: submitted.get(contender.name) ?? [] })),
    ),
    ...rowsOf(
      "job, 64 KiB, submitted and finished",
      finished.map(({ contender, rounds }) => ({
        contender,
        rounds: rounds.map((each) => ({ ...each, latenciesMs: endedMs.get(contender.name) ?? each.latenciesMs })),
      })),
    ),
    ...rowsOf("job, polled", polls),
  ];
}
