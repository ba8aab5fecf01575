// Gateways on one database whose wall clocks are right, an hour fast and an hour slow, or ten minutes [storage.database-clock]. Keys, replays, jobs with a
// short deadline, and signed links across gateways behave as if all clocks agreed [idempotency.ttl-clock].
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { type Gateways, startGateways } from "../gateways.ts";
import { askKeyed, createKeyHistory, untilSettled } from "../keyed-requests.ts";
import { oneApp } from "../one-app.ts";

const SECRET = "faults-key-of-the-clocks-app-001";
const SKEWS_MS: readonly (readonly number[])[] = [
  [0, 3_600_000, -3_600_000],
  [0, 600_000, -600_000],
];
/** Shorter than the skew of the clocks. */
const JOB_DEADLINE_SECONDS = 300;
const AT_ONCE = 5;
const JOBS_END_MS = 60_000;
const POLL_MS = 200;
const FORM = formAround(noiseWav(16_044));

/** Half of N for each pair of skews; each trial is a key and a job. */
export async function runClockSkew({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const violations: string[] = [];
  const figures: Record<string, string> = {};
  for (const [index, skews] of SKEWS_MS.entries()) {
    await using gateways = await startGateways(configuration, {
      count: skews.length,
      nodeOptions: (gateway) => [
        "--import",
        `${new URL("skewed-clock.mjs", import.meta.url).href}?ms=${skews[gateway] ?? 0}`,
      ],
    });
    const count = index === 0 ? Math.ceil(n / 2) : Math.floor(n / 2);
    const name = `± ${(skews[1] ?? 0) / 60_000} min`;
    say(`clocks ${name}`);
    const found = [
      ...(await keysAgree(gateways, `clocks-${seed}-${index}`, count)),
      ...(await jobsEnd(gateways, `clocks-job-${seed}-${index}`, count)),
    ];
    violations.push(...found.map((fault) => `${name}: ${fault}`));
    figures[`clocks ${name}`] = `${count} keys, each asked for at once on ${skews.length} gateways, and ${count} jobs`;
  }
  return { engine: "postgres", n, violations, seconds: (performance.now() - started) / 1000, figures };
}

async function keysAgree({ origins, sandbox }: Gateways, prefix: string, count: number): Promise<readonly string[]> {
  const history = createKeyHistory();
  const faults: string[] = [];
  for (let first = 0; first < count; first += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => `${prefix}-${first + index}`);
    const askAll = async (name: string) => {
      const answers = await Promise.all(origins.map((origin) => askKeyed(origin, { name, secret: SECRET })));
      for (const answer of answers) history.add(name, answer);
    };
    await Promise.all(names.map(askAll));
    faults.push(...(await untilSettled(history, names, { origins, secret: SECRET })));
    // Replayed by each gateway.
    await Promise.all(names.map(askAll));
  }
  const { keys, served } = history.counts();
  return [...faults, ...history.faults(sandbox), ...(served === keys ? [] : [`${served} of ${keys} keys answered`])];
}

interface JobView {
  readonly job_id: string;
  readonly status: string;
  readonly error: { readonly code: string } | null;
  readonly result_url?: string | null;
}

/** Submitted to each gateway in turn, polled at the next, and the signed link followed at the one after. */
async function jobsEnd({ origins }: Gateways, prefix: string, count: number): Promise<readonly string[]> {
  const at = (index: number): string => origins[index % origins.length] ?? "";
  const authorization = `Bearer ${SECRET}`;
  const one = async (index: number): Promise<string | null> => {
    const submitted = await askHttp(at(index), false, {
      method: "POST",
      path: "/v1/transcription/jobs",
      headers: { authorization, "content-type": FORM.contentType, "idempotency-key": `${prefix}-${index}` },
      body: FORM.body,
    });
    if (submitted.status !== 202) return `job ${index}: ${submitted.status} ${submitted.text.slice(0, 200)}`;
    const { job_id: id } = JSON.parse(submitted.text) as JobView;
    const lastMs = performance.now() + JOBS_END_MS;
    for (;;) {
      const read = await askHttp(at(index + 1), false, {
        method: "GET",
        path: `/v1/transcription/jobs/${id}`,
        headers: { authorization },
      });
      if (read.status !== 200) return `job ${index}: ${read.status} ${read.text.slice(0, 200)}`;
      const job = JSON.parse(read.text) as JobView;
      if (job.status === "succeeded") return followed(job.result_url ?? null, at(index + 2), index);
      if (job.status === "failed") return `job ${index}: failed, ${job.error?.code}`;
      if (performance.now() > lastMs) return `job ${index}: ${job.status} after ${JOBS_END_MS} ms`;
      await wait(POLL_MS);
    }
  };
  const faults: (string | null)[] = [];
  for (let first = 0; first < count; first += AT_ONCE)
    faults.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => one(first + index)),
      )),
    );
  return faults.filter((fault) => fault !== null);
}

async function followed(link: string | null, origin: string, index: number): Promise<string | null> {
  if (link === null) return `job ${index}: no link to its result`;
  const { pathname, search } = new URL(link, origin);
  const { status, text } = await askHttp(origin, false, { method: "GET", path: `${pathname}${search}` });
  return status === 200 ? null : `job ${index}: its link answers ${status} ${text.slice(0, 200)}`;
}

function configuration(sandbox: Sandbox): ConfigurationFile {
  return oneApp(sandbox, SECRET, { job_deadline_seconds: JOB_DEADLINE_SECONDS, stt_job_inline_result_bytes: 0 });
}
