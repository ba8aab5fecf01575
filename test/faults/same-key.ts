// R1, R2: rounds of 200 identical keyed requests at once, spread over three gateways on one database.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { createApp } from "../../src/compose/app.ts";
import { listen } from "../../src/http/server/listen.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { wav } from "../audio/build-audio.ts";
import { type Answer, postForm } from "../harness/client.ts";
import type { TestDatabase } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY, PEPPER, startGateway, type TestGateway } from "../harness/gateway.ts";
import type { FaultOptions, Trials } from "./fault.ts";

const AT_ONCE = 200;
const GATEWAYS = 3;

/** N rounds; each is one trial. */
export async function runSameKey({ n, seed }: Pick<FaultOptions, "n" | "seed">): Promise<Trials> {
  const started = performance.now();
  const violations: string[] = [];
  await using resources = new AsyncDisposableStack();
  const gateway = await startGateway();
  resources.defer(() => gateway.close());
  const origins = [gateway.origin];
  while (origins.length < GATEWAYS) origins.push(await startTwin(gateway, resources));
  for (let round = 1; round <= n; round += 1) {
    gateway.sandbox.clearCalls();
    const key = `same-key-${seed}-${round}`;
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        postForm(origins[index % GATEWAYS] ?? gateway.origin, {
          file: wav(2),
          headers: { "idempotency-key": key },
        }),
      ),
    );
    violations.push(...judgeRound(answers, gateway.sandbox.callCount).map((text) => `round ${round}: ${text}`));
  }
  const seconds = (performance.now() - started) / 1000;
  return { engine: "postgres", n, violations, seconds, figures: { requests: n * AT_ONCE } };
}

/** One execution; every answer is the original, its replay, or a request to wait for it. */
export function judgeRound(answers: readonly Answer[], calls: number): readonly string[] {
  const found: string[] = [];
  if (calls !== 1) found.push(`${calls} provider calls`);
  const served = answers.filter((answer) => answer.status === 200);
  const first = served.filter((answer) => answer.headers.get("x-svc-idempotent-replay") !== "true");
  if (first.length !== 1) found.push(`${first.length} answers that are no replay`);
  const bodies = new Set(served.map((answer) => answer.text)).size;
  if (bodies !== 1) found.push(`${bodies} different answers`);
  for (const { status, code } of answers)
    if (status !== 200 && code !== "IDEMPOTENCY_REPLAY_IN_PROGRESS") found.push(`${status} ${code}`);
  return found;
}

/** Like another process, with its own database handle and spool. */
async function startTwin(gateway: TestGateway, resources: AsyncDisposableStack): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-twin-"));
  resources.defer(() => rm(dataDir, { recursive: true, force: true }));
  const database = await (gateway.database as TestDatabase).openSecond();
  resources.defer(() => database.close());
  const { configuration } = gateway;
  const app = await createApp({
    configuration: { ...configuration, storage: { ...configuration.storage, dataDir } },
    database,
    seal: createSeal({ keys: [ENCRYPTION_KEY] }),
    pepper: PEPPER,
    logger: pino({ level: "silent" }),
  });
  resources.defer(() => app.close());
  return listen(app.server, { host: "127.0.0.1", port: 0 });
}
