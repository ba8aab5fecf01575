// `/metrics`: the documented names and no others [metrics.names], right figures, bounded labels.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import { createMetricRegistry } from "../../src/lib/metric-registry.ts";
import { postForm, send } from "../harness/client.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { pauseIn, resumeIn } from "../harness/pause.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { jobsFile } from "../jobs/setting.ts";
import { type Scrape, scrape } from "./scrape.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: twoTargets });
});
after(() => gateway.close());

function twoTargets(sandbox: Sandbox): ConfigurationFile {
  const file = jobsFile(sandbox);
  const [speech, ...others] = file.routes ?? [];
  assert.ok(speech !== undefined);
  return {
    ...file,
    routes: [{ ...speech, targets: [...speech.targets, { connection: "oa", model: "whisper-1" }] }, ...others],
    workspaces: (file.workspaces ?? []).map((workspace) => ({
      ...workspace,
      apps: (workspace.apps ?? []).map((app) => ({ ...app, budgets: [{ period: "month", limit_usd: "1000" }] })),
    })),
  };
}

const NAMES = [
  "svc_http_requests_total",
  "svc_http_request_duration_seconds",
  "svc_http_unreadable_total",
  "svc_upstream_attempts_total",
  "svc_upstream_attempt_duration_seconds",
  "svc_route_rejections_total",
  "svc_fallbacks_total",
  "svc_model_substitutions_total",
  "svc_audio_seconds_total",
  "svc_cost_usd_total",
  "svc_budgets",
  "svc_jobs",
  "svc_job_wait_seconds",
  "svc_job_run_seconds",
  "svc_provider_circuit_state",
  "svc_webhook_attempts_total",
  "svc_alerts_total",
  "svc_alert_attempts_total",
  "svc_idempotency_total",
  "svc_build_info",
  "svc_model_retirement_days",
];

/** Answers come before their exchange is closed and their record complete. */
async function until(isThere: (seen: Scrape) => boolean): Promise<Scrape> {
  let seen = await scrape(gateway.adminOrigin);
  for (let tries = 0; tries < 1_000 && !isThere(seen); tries += 1) seen = await scrape(gateway.adminOrigin);
  assert.ok(isThere(seen), seen.text);
  return seen;
}

test("metrics.endpoint, metrics.names: exactly the documented names, each with its type, from the first scrape on", async () => {
  const { names } = await scrape(gateway.adminOrigin);
  assert.deepEqual([...names].toSorted(), NAMES.toSorted());
});

test("metrics.values: requests, calls, a fallback and its reason, audio and its price, refusals, keys and jobs are counted", async () => {
  const { origin, sandbox } = gateway;
  const requests = 'svc_http_requests_total{route="/v1/transcription",method="POST",status="200"}';
  await postForm(origin, { headers: { "idempotency-key": "counted" } });
  await postForm(origin, { headers: { "idempotency-key": "counted" } });
  sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 503 }, times: 1 });
  await postForm(origin);
  await postForm(origin, { fields: { redaction: "pii", language: "de" } });
  const { job_id: job } = await submit(origin);
  await ended(origin, job);
  const { value } = await until(
    ({ value }) =>
      value(requests) === 3 &&
      value('svc_idempotency_total{outcome="replayed"}') === 1 &&
      // Counted after the transaction that ends the job, by which its end is seen.
      value("svc_job_run_seconds_count") === 1 &&
      value('svc_route_rejections_total{reason="unsupported"}') === 1,
  );
  const call = (provider: string, model: string, outcome: string) =>
    value(
      `svc_upstream_attempts_total{provider="${provider}",model="${model}",operation="transcription",outcome="${outcome}"}`,
    );
  assert.equal(call("deepgram", "nova-3", "succeeded"), 2);
  assert.equal(call("deepgram", "nova-3", "server_error"), 1);
  assert.equal(call("openai", "whisper-1", "succeeded"), 1);
  assert.equal(value('svc_fallbacks_total{operation="transcription",reason="server_error"}'), 1);
  const seconds = value('svc_audio_seconds_total{provider="deepgram",model="nova-3",billing="metered"}');
  assert.ok(Math.abs(seconds - 2 * 7.378) < 0.01, String(seconds));
  const usd = value('svc_cost_usd_total{provider="deepgram",model="nova-3",billing="metered"}');
  assert.ok(Math.abs(usd - seconds * 0.001) < 1e-9, String(usd));
  assert.equal(value('svc_idempotency_total{outcome="first"}'), 1);
  assert.equal(value("svc_job_run_seconds_count"), 1);
  assert.equal(value('svc_jobs{state="queued"}'), 0);
  assert.equal(
    value('svc_budgets{state="below_soft_limit"}'),
    gateway.configuration.workspaces.flatMap((each) => each.apps).length,
  );
  assert.equal(value('svc_provider_circuit_state{provider="deepgram",model="nova-3"}'), 0);
  const histogram = 'svc_http_request_duration_seconds_bucket{le="+Inf",route="/v1/transcription",method="POST"}';
  assert.equal(
    value(histogram),
    value('svc_http_request_duration_seconds_count{route="/v1/transcription",method="POST"}'),
  );
});

test("metrics.circuit-state: a manual pause, of a model that was called or not, has another value than an open circuit", async () => {
  const state = (provider: string, model: string) =>
    `svc_provider_circuit_state{provider="${provider}",model="${model}"}`;
  await postForm(gateway.origin);
  try {
    await pauseIn(gateway, "dg");
    await pauseIn(gateway, "oa", "gpt-4o-transcribe");
    const { value } = await scrape(gateway.adminOrigin);
    assert.deepEqual([value(state("deepgram", "nova-3")), value(state("deepgram", "nova-2"))], [2, 2]);
    assert.equal(value(state("openai", "gpt-4o-transcribe")), 2);
    gateway.sandbox.addFault({ wire: "openai", fault: { kind: "status", status: 503 } });
    for (let calls = 0; calls < 5; calls += 1) await postForm(gateway.origin);
    await pauseIn(gateway, "oa", "whisper-1");
    assert.equal(
      (await scrape(gateway.adminOrigin)).value(state("openai", "whisper-1")),
      1,
      "the circuit is open all the same",
    );
  } finally {
    gateway.sandbox.clearFaults();
    await resumeIn(gateway);
  }
  assert.equal((await scrape(gateway.adminOrigin)).value(state("deepgram", "nova-3")), 0);
});

test("metrics.labels: whatever callers send, no label contains it and the number of series stays the same", async () => {
  const sizeOf = async () => (await scrape(gateway.adminOrigin)).text.split("\n").length;
  const ask = (index: number) =>
    send(`${gateway.origin}/hush-${index}?key=hush`, {
      method: "POST",
      headers: { authorization: `Bearer hush-${index}` },
    });
  await ask(0);
  await until(({ value }) => value('svc_http_requests_total{route="none",method="POST",status="404"}') >= 1);
  const before = await sizeOf();
  for (let index = 1; index <= 50; index += 1) await ask(index);
  await until(({ value }) => value('svc_http_requests_total{route="none",method="POST",status="404"}') >= 51);
  assert.equal(await sizeOf(), before);
  assert.doesNotMatch((await scrape(gateway.adminOrigin)).text, /hush|req_|key_|app_|127\.0\.0\.1/u);
});

test("metrics.bounded-series: values are escaped, histograms add up, and beyond the bound everything is counted together", async () => {
  const registry = createMetricRegistry();
  const counter = registry.counter("c_total", "C.", ["name"]);
  counter.add(['a "quoted" \\ name\n']);
  for (let index = 0; index < 5_000; index += 1) counter.add([`name-${index}`]);
  const histogram = registry.histogram("h_seconds", "H.", [], [1, 2]);
  for (const value of [0.5, 1, 1.5, 99]) histogram.observe([], value);
  registry.gauge("g", "G.", [], () => Promise.reject(new Error("the database is unavailable")));
  const text = await registry.text();
  assert.ok(text.includes('c_total{name="a \\"quoted\\" \\\\ name\\n"} 1\n'));
  const series = text.split("\n").filter((line) => line.startsWith("c_total{"));
  assert.equal(series.length, 1_000);
  assert.equal(
    series.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0),
    5_001,
  );
  assert.match(
    text,
    /h_seconds_bucket\{le="1"\} 2\nh_seconds_bucket\{le="2"\} 3\nh_seconds_bucket\{le="\+Inf"\} 4\nh_seconds_sum 102\nh_seconds_count 4\n/u,
  );
  assert.doesNotMatch(text, /^g /mu);
});

test("metrics.bounded-series: a histogram has the same bound, and what is beyond it is counted together", async () => {
  const registry = createMetricRegistry();
  const histogram = registry.histogram("h_seconds", "H.", ["name"], [1]);
  for (let index = 0; index < 5_000; index += 1) histogram.observe([`name-${index}`], 0.5);
  const counts = (await registry.text()).split("\n").filter((line) => line.startsWith("h_seconds_count{"));
  assert.equal(counts.length, 1_000);
  assert.ok(counts.includes('h_seconds_count{name="other"} 4001'));
});

test("metrics.values: a figure that no counter can take is ignored, and fails no request", async () => {
  const registry = createMetricRegistry();
  const counter = registry.counter("c_total", "C.", ["name"]);
  const histogram = registry.histogram("h_seconds", "H.", ["name"], [1]);
  for (const figure of [2, -1, Number.NaN, Number.POSITIVE_INFINITY]) counter.add(["x"], figure);
  for (const figure of [2, Number.NaN, Number.POSITIVE_INFINITY]) histogram.observe(["x"], figure);
  const text = await registry.text();
  assert.match(text, /^c_total\{name="x"\} 2$/mu);
  assert.match(text, /^h_seconds_count\{name="x"\} 1$/mu);
});
