// kill -9 at each step of a keyed job's submission, then a restart on the same database and retries with the same key [jobs.submitted-once]: one job, one
// provider call, and no orphaned recording.
import { type Answer, get, postForm } from "../harness/client.ts";
import { type FatalProvider, startFatalProvider } from "./fatal-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { SUBMIT_POINTS, type SubmitPoint } from "./kill-protocol.ts";
import { seeded, shuffled } from "./seeded.ts";
import { makeSurvivingDatabase } from "./surviving-database.ts";

/** What the retry after the restart returns: a new submission, or the stored answer. */
const FATES: { readonly [P in SubmitPoint]: "runs" | "replay" } = {
  "after-parse": "runs",
  "after-slot-insert": "runs",
  "after-object-put": "runs",
  "before-submit-commit": "runs",
  "after-submit-commit": "replay",
};
const EPOCH_MS = Date.UTC(2030, 0, 1);
const TRIAL_SECONDS = 1_000;
/** Past the lease of a slot whose owner is dead. */
const LAPSED_SECONDS = 60;
const NOTICED_SECONDS = 45;

export async function runSubmitKills({ n, seed }: { readonly n: number; readonly seed: number }) {
  const started = performance.now();
  const random = seeded(seed);
  const violations: string[] = [];
  await using resources = new AsyncDisposableStack();
  const place = await makeSurvivingDatabase();
  resources.defer(() => place.remove());
  const provider = await startFatalProvider();
  resources.defer(() => provider.close());
  const start = () =>
    startGatewayProcess({ dataDir: place.dataDir, databaseUrl: place.databaseUrl, providerUrl: provider.origin });
  let gateway = await start();
  resources.defer(() => gateway.close());
  let done = 0;
  for (let round = 0; round < n; round += 1) {
    for (const point of shuffled(SUBMIT_POINTS, random)) {
      const found = await runTrial({
        point,
        gateway,
        provider,
        restart: async () => {
          gateway = await start();
          return gateway;
        },
        number: done,
        key: `${point}-${seed}-${done}`,
      });
      done += 1;
      violations.push(...found.map((text) => `${point} #${done}: ${text}`));
    }
  }
  return { engine: place.engine, n: done, violations, seconds: (performance.now() - started) / 1000 };
}

interface Trial {
  readonly point: SubmitPoint;
  readonly gateway: GatewayProcess;
  readonly provider: FatalProvider;
  readonly restart: () => Promise<GatewayProcess>;
  readonly number: number;
  readonly key: string;
}

async function runTrial(trial: Trial): Promise<readonly string[]> {
  const { point, provider, key } = trial;
  const found: string[] = [];
  const hold = (isSo: boolean, otherwise: string): void => {
    if (!isSo) found.push(otherwise);
  };
  const at = (seconds: number) => new Date(EPOCH_MS + (trial.number * TRIAL_SECONDS + seconds) * 1000).toISOString();
  const submit = ({ origin }: GatewayProcess) =>
    postForm(origin, {
      path: "/v1/transcription/jobs",
      fields: { language: "en" },
      headers: { "idempotency-key": key },
    });

  await trial.gateway.ask({ kind: "clock", at: at(0) });
  provider.expect(null, () => undefined);
  await trial.gateway.ask({ kind: "arm", point });
  await submit(trial.gateway).catch(() => null);
  if (!(await trial.gateway.diedWithin(10_000))) {
    trial.gateway.kill();
    await trial.gateway.diedWithin(10_000);
    return ["the process survived"];
  }

  const gateway = await trial.restart();
  if (FATES[point] === "runs" && point !== "after-parse") {
    const early = await submit(gateway);
    hold(early.code === "IDEMPOTENCY_REPLAY_IN_PROGRESS", `within the lease: ${early.status} ${early.code}`);
  }
  await gateway.ask({ kind: "clock", at: at(LAPSED_SECONDS) });
  await gateway.ask({ kind: "sweep" });
  const retry = await submit(gateway);
  hold(retry.status === 202, `retry: ${retry.status} ${retry.code}`);
  hold(isReplay(retry) === (FATES[point] === "replay"), `retry: ${isReplay(retry) ? "a replay" : "no replay"}`);
  const secondRetry = await submit(gateway);
  hold(isReplay(secondRetry) && secondRetry.text === retry.text, "the second retry is no replay of the first");

  const { job_id: jobId } = retry.json as { readonly job_id?: string };
  const statusAfter = async (seconds: number) =>
    ((await get(gateway.origin, `/v1/transcription/jobs/${jobId}?wait=${seconds}`)).json as { status?: string }).status;
  let status = await statusAfter(5);
  if (status === "queued") {
    // The process died with the message that would have woken it: a dead worker is noticed within 45 s.
    await gateway.ask({ kind: "clock", at: at(LAPSED_SECONDS + NOTICED_SECONDS) });
    status = await statusAfter(30);
  }
  hold(status === "succeeded", `the job is ${status}`);
  await gateway.ask({ kind: "orphans" });
  const facts = await gateway.ask({ kind: "facts", key, since: at(0) });
  hold(facts?.jobs === 1, `${facts?.jobs} jobs under one key`);
  hold(provider.callCount() === 1, `${provider.callCount()} provider calls`);
  hold(facts?.recordings === 0, `${facts?.recordings} recordings left`);
  hold(facts?.attempts.length === 1 && facts.attempts[0]?.state === "settled", "not one settled attempt");
  hold(facts?.reservedNanoUsd === 0, "something stays reserved");
  hold(facts?.chargedNanoUsd === facts?.spentNanoUsd, "the budget does not say what the attempts say");
  return found;
}

function isReplay(answer: Answer): boolean {
  return answer.headers.get("x-svc-idempotent-replay") === "true";
}
