// A gateway that cannot write to any file, not even its log (`prlimit --fsize`, like a full disk or a quota), during requests and jobs. It survives, reports
// that the disk is full, and once there is room again nothing is lost or billed twice [jobs.result-storage-retry].
import { spawnSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp, type HttpAnswer } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { oneApp } from "../one-app.ts";

const SECRET = "faults-key-of-the-full-disk-app-1";
const SMALL = formAround(noiseWav(16_044));
/** Too large for memory, so a file is written before the provider is called. */
const LARGE = formAround(noiseWav(5_000_044));
/** Duration of the provider's call: long enough for the disk to be full before the result is written. */
const CALL_MS = 700;
const FULL_MS = 1_000;
const END_MS = 30_000;
const POLL_MS = 100;

/** A round consists of a job whose result cannot be stored, a job that cannot be stored, an upload that cannot be spooled, and one that needs no file. */
const OPERATIONS = 4;

export async function runDiskFull({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  await using gateways = await startGateways(configuration, { count: 1 });
  const [gateway] = gateways.processes;
  const [origin] = gateways.origins;
  if (gateway === undefined || origin === undefined) throw new Error("there is no gateway");
  const { sandbox } = gateways;
  sandbox.addFault({ fault: { kind: "delay", ms: CALL_MS } });
  const violations: string[] = [];
  const whenFull = new Map<string, number>();
  const rounds = Math.ceil(n / OPERATIONS);
  const limit = (bytes: "0" | "unlimited"): void => limitFiles(gateway.pid, bytes);

  for (let round = 0; round < rounds && violations.length < 20; round += 1) {
    const name = (what: string): string => `disk-${seed}-${round}-${what}`;
    const expect = (what: string, answer: HttpAnswer, statuses: readonly number[]): void => {
      if (answer.status === null || !statuses.includes(answer.status))
        violations.push(`round ${round}, ${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
    };
    const checkAnswer = (what: string, answer: HttpAnswer): void => {
      const outcome = `${what} ${answer.status} ${/"code":"([A-Za-z_]+)"/u.exec(answer.text)?.[1] ?? ""}`.trimEnd();
      whenFull.set(outcome, (whenFull.get(outcome) ?? 0) + 1);
    };
    sandbox.clearCalls();
    const early = await post(origin, "/v1/transcription/jobs", SMALL, name("early"));
    expect("job before", early, [202]);
    await sandbox.waitForCall(({ method }) => method === "POST");
    limit("0");
    const [late, large, small] = await Promise.all([
      post(origin, "/v1/transcription/jobs", SMALL, name("late")),
      post(origin, "/v1/transcription", LARGE, name("large")),
      post(origin, "/v1/transcription", SMALL, name("small")),
    ]);
    checkAnswer("job", late);
    checkAnswer("large upload", large);
    checkAnswer("small upload", small);
    // A retryable error or success, never an internal error.
    expect("job while full", late, [503]);
    expect("large upload while full", large, [503]);
    expect("small upload while full", small, [200]);
    await wait(FULL_MS);
    limit("unlimited");
    if (!gateway.isRunning) {
      violations.push(`round ${round}: the gateway died`);
      break;
    }
    expect("large upload after", await post(origin, "/v1/transcription", LARGE, name("large")), [200]);
    const resubmitted = await post(origin, "/v1/transcription/jobs", SMALL, name("late"));
    expect("job after", resubmitted, [202]);
    for (const [what, submitted] of [["the job before", early] as const, ["the job after", resubmitted] as const]) {
      const fault = submitted.status === 202 ? await untilSucceeded(origin, submitted) : null;
      if (fault !== null) violations.push(`round ${round}, ${what}: ${fault}`);
    }
    const calls = sandbox.calls.filter(({ method }) => method === "POST").length;
    if (calls !== OPERATIONS) violations.push(`round ${round}: ${calls} provider calls for ${OPERATIONS} answers`);
    say(`round ${round + 1} of ${rounds}, ${violations.length} violations`);
  }
  return {
    engine: "postgres",
    n: rounds * OPERATIONS,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: { "while it was full": [...whenFull].map(([outcome, count]) => `${outcome}: ${count}`).join(", ") },
  };
}

/** Writes beyond the limit fail with EFBIG; Node.js ignores the accompanying signal. */
function limitFiles(pid: number | null, bytes: string): void {
  if (pid === null) return;
  const { status, error } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error("prlimit (util-linux) could not limit the gateway's files", { cause: error });
}

function post(origin: string, path: string, form: typeof SMALL, key: string): Promise<HttpAnswer> {
  return askHttp(origin, false, {
    method: "POST",
    path,
    headers: { authorization: `Bearer ${SECRET}`, "content-type": form.contentType, "idempotency-key": key },
    body: form.body,
  });
}

async function untilSucceeded(origin: string, { text }: HttpAnswer): Promise<string | null> {
  const { job_id: id } = JSON.parse(text) as { readonly job_id: string };
  for (const lastMs = performance.now() + END_MS; ; await wait(POLL_MS)) {
    const read = await askHttp(origin, false, {
      method: "GET",
      path: `/v1/transcription/jobs/${id}`,
      headers: { authorization: `Bearer ${SECRET}` },
    });
    const job = JSON.parse(read.text) as { readonly status?: string; readonly error?: unknown };
    if (job.status === "succeeded") return null;
    if (job.status === "failed") return `failed, ${JSON.stringify(job.error)}`;
    if (performance.now() > lastMs) return `${read.status} ${job.status} after ${END_MS} ms`;
  }
}

function configuration(sandbox: Sandbox): ConfigurationFile {
  // Every result is stored in a file.
  return oneApp(sandbox, SECRET, { stt_job_inline_result_bytes: 0 });
}
