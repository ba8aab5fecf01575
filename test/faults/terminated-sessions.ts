// Every session of the database is terminated between a provider's answer and the commit that stores it [metering.settle-retry]. The gateway survives; under
// one key the provider is called once, and the slot ends completed or burned.
import { type Answer, postForm } from "../harness/client.ts";
import { startPostgresServer } from "../harness/postgres/postgres-server.ts";
import { type FatalProvider, startFatalProvider } from "./fatal-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { connectionLost, factsOf, fateOf, judgeBooks } from "./kill-points.ts";
import { seeded, shuffled } from "./seeded.ts";
import { makeFolder } from "./surviving-database.ts";
import { terminateSessions } from "./terminate-sessions.ts";

const POINTS = ["reply-body-sent", "before-settle-commit", "after-settle-commit"] as const;
type Point = (typeof POINTS)[number];

const EPOCH_MS = Date.UTC(2030, 0, 1);
const TRIAL_SECONDS = 1_000;
/** Past the slot's lease, and the attempt's deadline with its grace. */
const LAPSED_SECONDS = 400;

export async function runTerminatedSessions({ n, seed }: { readonly n: number; readonly seed: number }) {
  const started = performance.now();
  const random = seeded(seed);
  const violations: string[] = [];
  const fates: Record<string, number> = {};
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgresServer();
  resources.defer(() => postgres.stop());
  const folder = await makeFolder();
  resources.defer(() => folder.remove());
  const provider = await startFatalProvider();
  resources.defer(() => provider.close());
  const gateway = await startGatewayProcess({
    dataDir: folder.path,
    databaseUrl: postgres.url,
    providerUrl: provider.origin,
  });
  resources.defer(() => gateway.close());
  let done = 0;
  for (let round = 0; round < n; round += 1) {
    for (const point of shuffled(POINTS, random)) {
      const trial = await runTrial({ point, gateway, provider, databaseUrl: postgres.url, number: done, seed });
      done += 1;
      const outcome = `${point}: answered ${trial.answered}, then ${trial.fate}`;
      fates[outcome] = (fates[outcome] ?? 0) + 1;
      violations.push(...trial.found.map((text) => `${point} #${done}: ${text}`));
    }
  }
  return {
    engine: "postgres",
    n: done,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: fates,
  };
}

interface Trial {
  readonly point: Point;
  readonly gateway: GatewayProcess;
  readonly provider: FatalProvider;
  readonly databaseUrl: string;
  readonly number: number;
  readonly seed: number;
}

async function runTrial({ point, gateway, provider, databaseUrl, number, seed }: Trial) {
  const found: string[] = [];
  const hold = (isSo: boolean, otherwise: string): void => {
    if (!isSo) found.push(otherwise);
  };
  const at = (seconds: number) => new Date(EPOCH_MS + (number * TRIAL_SECONDS + seconds) * 1000).toISOString();
  const key = `cut-${seed}-${number}`;
  const send = () => postForm(gateway.origin, { fields: { language: "en" }, headers: { "idempotency-key": key } });

  await gateway.ask({ kind: "clock", at: at(0) });
  const isInner = point === "before-settle-commit" || point === "after-settle-commit";
  const cut = Promise.withResolvers<void>();
  if (isInner) {
    await gateway.ask({ kind: "cut", point });
    cut.resolve();
  }
  provider.expect(isInner ? null : point, () => cut.resolve(terminateSessions(databaseUrl)));
  const first = await send().catch(connectionLost);
  await cut.promise;
  hold(first !== null, "no answer at all");

  // A terminated connection may be noticed only at the next statement on it.
  await retryOnce(() => gateway.ask({ kind: "clock", at: at(LAPSED_SECONDS) }));
  await retryOnce(() => gateway.ask({ kind: "sweep" }));
  const retry = await untilJudged(send);
  const fate = fateOf(retry);
  hold(fate === "replay" || fate === "unavailable", `retry: ${fate}`);
  if (first?.status === 200) hold(fate === "replay" && retry.text === first.text, "an answer once given is gone");
  const second = await send();
  hold(fateOf(second) === fate, `second retry: ${fateOf(second)}`);
  if (fate === "replay") hold(second.text === retry.text, "the answer changed between two retries");
  hold(provider.callCount() === 1, `${provider.callCount()} provider calls under one key`);
  judgeBooks(await factsOf(gateway, key, at(0)), fate, hold);
  return { found, fate, answered: statusOf(first) };
}

const TRIES = 10;

async function retryOnce(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/** Retries like an application after an internal error of the gateway. */
async function untilJudged(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send();
    if (answer.status < 500 || tries === TRIES) return answer;
  }
}

function statusOf(answer: Answer | null): string {
  return answer === null ? "nothing" : `${answer.status}${answer.code === null ? "" : ` ${answer.code}`}`;
}
