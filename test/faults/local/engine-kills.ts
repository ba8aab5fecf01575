// The local engine's process is killed N times at random moments of a decode, while requests and jobs are recognised. Every request ends, with its words or
// with a definite failure, no job is lost, and nothing is charged for a failure [local.crash-definite].
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { installWords, sentence, speak, wavOf, WORDS } from "../../harness/local-model.ts";
import { ended, submit } from "../../http/jobs/jobs.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded } from "../seeded.ts";

/** Long enough that a decode can be met, and short enough for hundreds of trials. */
const LONG = speak(0.3, ...Array.from({ length: 12 }, () => ["hello", 0.2, "doctor", 0.2]).flat());
const SHORT = sentence("good", "morning");

const textOf = ({ words }: typeof SHORT): string => words.map(({ text }) => text).join(" ");

export async function runEngineKills({ n, seed, say }: FaultOptions): Promise<Trials> {
  const startedMs = performance.now();
  const random = seeded(seed);
  const modelsDir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
  installWords(modelsDir);
  const violations: string[] = [];
  const fates: Record<string, number> = {};
  const gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe", "jobs"],
        models: { dir: modelsDir },
        prices: { [`local/${WORDS}`]: "1" },
        connections: { here: { kind: "local", models: { [WORDS]: { capabilities: ["audio_input"] } } } },
        routes: { here: `here/${WORDS}` },
        apps: { notes: { key: KEY } },
      }),
  });
  try {
    const decodeMs = await timeOf(gateway);
    for (let trial = 1; trial <= n; trial++) {
      const found = await runTrial(gateway, random() * decodeMs * 1.2, fates);
      violations.push(...found.map((text) => `#${trial}: ${text}`));
      say(`${trial}/${n}`);
    }
    violations.push(...(await judgeCharges(gateway)));
  } finally {
    await gateway.close();
    rmSync(modelsDir, { recursive: true });
  }
  return { engine: "postgres", n, violations, seconds: (performance.now() - startedMs) / 1000, figures: fates };
}

async function timeOf({ origin }: TestGateway): Promise<number> {
  await postForm(origin, { file: wavOf(LONG.samples) });
  const startedMs = performance.now();
  await postForm(origin, { file: wavOf(LONG.samples) });
  return performance.now() - startedMs;
}

async function runTrial(
  { app, origin }: TestGateway,
  afterMs: number,
  fates: Record<string, number>,
): Promise<readonly string[]> {
  const found: string[] = [];
  const answers = [LONG, SHORT].map((spoken) => postForm(origin, { file: wavOf(spoken.samples) }));
  const jobs = submit(origin, { file: wavOf(LONG.samples) });
  await wait(afterMs);
  const pid = app.recognisers.report()[0]?.pid ?? null;
  if (pid !== null) kill(pid);
  for (const [index, pending] of answers.entries()) {
    const answer = await pending;
    const outcome = answer.code ?? "served";
    fates[outcome] = (fates[outcome] ?? 0) + 1;
    const expected = textOf(index === 0 ? LONG : SHORT);
    if (answer.status === 200 && envelopeOf(answer).content !== expected) found.push("other words than were spoken");
    if (answer.status !== 200 && answer.code !== "NO_HEALTHY_PROVIDER") found.push(`ended with ${answer.code}`);
  }
  const job = await ended(origin, (await jobs).job_id);
  if (job.status !== "succeeded") found.push(`a job ended as ${job.status}`);
  return found;
}

/** The process may have ended in the meantime. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return;
  }
}

async function judgeCharges({ app, database }: TestGateway): Promise<readonly string[]> {
  await app.settled();
  const rows = await database.db.selectFrom("attempts").select(["state", "outcome", "charge_nano_usd"]).execute();
  const open = rows.filter(({ state }) => state !== "settled").length;
  const wrong = rows.filter(
    ({ outcome, charge_nano_usd: charge }) => (outcome === "succeeded") !== (charge ?? 0n) > 0n,
  ).length;
  return [
    ...(open > 0 ? [`${open} attempts are not settled`] : []),
    ...(wrong > 0 ? [`${wrong} attempts are charged otherwise than by their outcome`] : []),
  ];
}
