// Budgets and quotas over HTTP: a budget is never exceeded, however many requests come at once, and what is refused is not called.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { limitsReport } from "../../../../src/contract/account.ts";
import { isLimited } from "../../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../../src/contract/endpoints/endpoints.ts";
import { routingDecision } from "../../../../src/contract/transcription/transcription-envelope.ts";
import type { GatewayServices } from "../../../../src/gateway/services.ts";
import { fixture } from "../../../audio/build-audio.ts";
import { type Answer, detailsOf, envelopeOf, get, postForm, send } from "../../../harness/client.ts";
import { ended, submit } from "../../jobs/jobs.ts";
import { type AppParts, byId, configurationWith } from "../../../harness/configuration.ts";
import { shiftClock } from "../../../harness/postgres/database.ts";
import { startGateway, type TestGateway } from "../../../harness/gateway.ts";

/** One second, two channels. nova-3 costs 0.001 USD a second, nova-2 as much for each channel. */
const AUDIO = fixture("speech-44k-stereo.wav");

const APPS = {
  seconds: { budgets: [{ period: "total", limit_audio_seconds: 10 }] },
  money: { budgets: [{ period: "day", limit_usd: "0.0105" }] },
  channels: { route: "channels", budgets: [{ period: "month", limit_usd: "0.003" }] },
  failing: { budgets: [{ period: "total", limit_audio_seconds: 1 }] },
  free: { route: "unpriced", budgets: [{ period: "total", limit_usd: "0.000001" }] },
  cheaper: { route: "cheaper", budgets: [{ period: "total", limit_usd: "0.000001" }] },
  dear: { route: "dear", budgets: [{ period: "total", limit_usd: "0.000001" }] },
  "per-minute": { quota: { requests_per_minute: 3 } },
  concurrent: { quota: { concurrent: 2 } },
  both: { quota: { requests_per_minute: 2, concurrent: 1 } },
  hourly: { quota: { audio_seconds_per_hour: 2 } },
  "one-left": { quota: { requests_per_minute: 1 } },
  reported: { quota: { requests_per_minute: 500, audio_seconds_per_hour: 90, tokens_per_minute: 700, concurrent: 9 } },
} satisfies Record<string, AppParts>;
type AppName = keyof typeof APPS;
const secretOf = (app: string) => `test-key-of-the-app-${app}-0001`;

let gateway: TestGateway;
let nowMs = Date.parse("2026-11-20T12:00:00Z");
const moments = new EventEmitter();
let gate: Promise<void> = Promise.resolve();

before(async () => {
  gateway = await startGateway({ file: fileOf, wrapGateway: withGate, now: () => new Date(nowMs) });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

test("routing.unaffordable-target: where the budget cannot pay the first target, the next affordable one is called, synchronously and as a job", async () => {
  const answer = await ask("cheaper");
  assert.equal(answer.status, 200, answer.text);
  const { job_id: id } = await submit(gateway.origin, { key: secretOf("cheaper"), file: AUDIO });
  assert.equal((await ended(gateway.origin, id, secretOf("cheaper"))).status, "succeeded");
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model }) => model),
    ["whisper-1", "whisper-1"],
  );
  const refused = await ask("dear");
  assert.deepEqual([refused.status, refused.code], [402, "BUDGET_EXCEEDED"]);
  assert.equal(gateway.sandbox.callCount, 2);
});

for (const [app, kind, limits] of [
  ["seconds", "audio_seconds", { limit: 10, spent: 10, reserved: 0, requested: 1, resets_at: null }],
  ["money", "usd", { limit: "0.0105", spent: "0.01", reserved: "0", requested: "0.001" }],
] as const) {
  test(`metering.budget-hard-limit, metering.reserve-audio, metering.refusal-figures, budgets.dry-run: of 40 concurrent requests against a budget of ${kind} for 10, exactly 10 pass and 30 call nothing`, async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(app)));
    const passed = answers.filter(({ status }) => status === 200);
    assert.equal(passed.length, 10);
    for (const answer of passed) assert.equal(envelopeOf(answer).usage.billable_audio_seconds, 1);
    assert.equal(answers.filter(({ code }) => code === "BUDGET_EXCEEDED").length, 30);
    assert.equal(gateway.sandbox.callCount, 10);

    const refused = await ask(app);
    assert.equal(refused.status, 402);
    const details = detailsOf(refused);
    assert.equal(details["kind"], kind);
    for (const [name, value] of Object.entries(limits)) assert.equal(amount(details[name]), amount(value), name);
    assert.equal(gateway.sandbox.callCount, 10);
    // A dry run judges everything up to the call [routing.dry-run].
    const dry = await postForm(gateway.origin, { key: secretOf(app), file: AUDIO, fields: { dry_run: "true" } });
    const { outcome } = routingDecision.parse(dry.json);
    assert.deepEqual([dry.status, outcome], [200, { status: 402, code: "BUDGET_EXCEEDED", position: null }]);
  });
}

test("budgets.windows: GET /v1/melimits reports what is left of each budget, and when the window of a day ends", async () => {
  const seconds = await budgetOf("seconds");
  assert.deepEqual([seconds.limit_audio_seconds, seconds.remaining_audio_seconds, seconds.resets_at], [10, 0, null]);
  const money = await budgetOf("money");
  assert.equal(amount(money.limit_usd), 0.0105);
  assert.equal(amount(money.remaining_usd), 0.0005);
  assert.match(money.resets_at ?? "", /T00:00:00\.000Z$/);
});

test("metering.billable-seconds: a price per channel bills each channel's seconds, and counts so against the budget", async () => {
  assert.equal(envelopeOf(await ask("channels")).usage.billable_audio_seconds, 2);
  const refused = await ask("channels");
  assert.equal(refused.code, "BUDGET_EXCEEDED");
  assert.equal(amount(detailsOf(refused)["requested"]), 0.002);
  assert.equal(gateway.sandbox.callCount, 1);
});

test("metering.charge-delivered: a failed attempt returns its reservation to the budget", async () => {
  gateway.sandbox.addFault({ times: 1, fault: { kind: "status", status: 400 } });
  assert.equal((await ask("failing")).code, "PROVIDER_REJECTED");
  assert.equal((await budgetOf("failing")).remaining_audio_seconds, 1);
  envelopeOf(await ask("failing"));
  assert.equal((await ask("failing")).code, "BUDGET_EXCEEDED");
  assert.equal(gateway.sandbox.callCount, 2);
});

test("metering.billing-class: a model without a price is provider-billed and draws on no money", async () => {
  assert.equal(envelopeOf(await ask("free")).usage.billable_audio_seconds, 0);
  envelopeOf(await ask("free"));
  assert.equal(amount((await budgetOf("free")).remaining_usd), 0.000001);
});

test("quotas.rate-limit-fields, quotas.retry-after: requests_per_minute: the fourth is 429 with its headers, and one passes when its time has come", async () => {
  for (let count = 0; count < 3; count += 1) envelopeOf(await ask("per-minute"));
  const answer = await ask("per-minute");
  assert.equal(answer.code, "RATE_LIMITED");
  assert.equal(answer.headers.get("ratelimit-policy"), '"requests";q=3;w=60');
  // By the clock that counts: this process's, or the server's.
  const seconds = /^"requests";r=0;t=(5\d|60)$/.exec(answer.headers.get("ratelimit") ?? "")?.[1];
  assert(seconds !== undefined);
  assert.equal(answer.headers.get("retry-after"), seconds);
  assert.equal(gateway.sandbox.callCount, 3);
  nowMs += 60_000;
  await shiftClock(gateway.database, 60);
  let next = await ask("per-minute");
  // A process that shares a quota remembers a refusal for a tenth of a second.
  while (next.code === "RATE_LIMITED") next = await ask("per-minute");
  envelopeOf(next);
  for (let count = 1; count < 3; count += 1) envelopeOf(await ask("per-minute"));
  assert.equal((await ask("per-minute")).code, "RATE_LIMITED");
});

test("quotas.units, quotas.dry-run: audio_seconds_per_hour: the third second is 429 and calls nothing; a dry run reports it and counts none", async () => {
  const dry = async () => {
    const answer = await postForm(gateway.origin, {
      key: secretOf("hourly"),
      file: AUDIO,
      fields: { dry_run: "true" },
    });
    return routingDecision.parse(answer.json).outcome;
  };
  for (let turn = 0; turn < 3; turn += 1) assert.equal((await dry()).status, 200);
  envelopeOf(await ask("hourly"));
  envelopeOf(await ask("hourly"));
  const answer = await ask("hourly");
  assert.equal(answer.code, "RATE_LIMITED");
  assert.equal(detailsOf(answer)["unit"], "audio seconds");
  assert.equal(answer.headers.get("ratelimit-policy"), '"audio-seconds";q=2;w=3600;qu="audio-seconds"');
  assert.deepEqual(await dry(), { status: 429, code: "RATE_LIMITED", position: null });
  assert.equal(gateway.sandbox.callCount, 2);
});

test("quotas.refusal-details, quotas.rate-limit-fields: concurrent: a third at once is 429 with its headers; when one has ended the next passes", async () => {
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  const running: Promise<Answer>[] = [];
  for (let count = 0; count < 2; count += 1) {
    const arrived = once(moments, "reserve");
    running.push(ask("concurrent"));
    await arrived;
  }
  const answer = await ask("concurrent");
  assert.equal(answer.code, "CONCURRENCY_LIMITED");
  assert.deepEqual(detailsOf(answer), { limit: 2 });
  assert.equal(answer.headers.get("ratelimit-policy"), '"concurrent";q=2;qu="concurrent-requests"');
  assert.match(answer.headers.get("ratelimit") ?? "", /^"concurrent";r=0;t=\d+$/);
  held.resolve();
  for (const each of running) envelopeOf(await each);
  envelopeOf(await ask("concurrent"));
  assert.equal(gateway.sandbox.callCount, 3);
});

test("quotas.refused-not-counted: the rate is judged before concurrency, and a request refused for concurrency does not count against the rate", async () => {
  const codes = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const held = Promise.withResolvers<void>();
    gate = held.promise;
    const arrived = once(moments, "reserve");
    const running = ask("both");
    await arrived;
    codes.push((await ask("both")).code);
    held.resolve();
    envelopeOf(await running);
  }
  assert.deepEqual(codes, ["CONCURRENCY_LIMITED", "RATE_LIMITED"]);
});

test("quotas.rate-limit-fields, quotas.smaller-applies: every answer of an endpoint that counts against quotas reports them, the smaller of key and app", async () => {
  const limited = ENDPOINTS.filter(isLimited);
  assert(limited.length >= 9);
  for (const { method, path } of limited) {
    // Refused by each in its own way: an empty body, a scope that the key lacks, no handshake.
    const init = { method, headers: { authorization: `Bearer ${secretOf("reported")}` } };
    const answer = await send(`${gateway.origin}${path}`, init);
    assert.equal(answer.headers.get("ratelimit-policy"), POLICY_REPORTED, `${method} ${path} ${answer.text}`);
  }
  const other = await get(gateway.origin, "/v1/melimits", secretOf("reported"));
  assert.equal(other.headers.get("ratelimit-policy"), null);
  const unlimited = await postForm(gateway.origin, { key: secretOf("seconds"), file: AUDIO });
  assert.equal(unlimited.headers.get("ratelimit-policy"), null);
  assert.equal(unlimited.headers.get("ratelimit"), null);
});

test("quotas.rate-limit-fields: what an answer reports as left falls with requests and seconds of audio, replays, jobs and streams included", async () => {
  const key = secretOf("reported");
  const before = leftIn(await postForm(gateway.origin, { key, file: AUDIO }));
  const headers = { "idempotency-key": "reported-once" };
  const calls = [
    { fields: { stream: "true" } },
    { headers },
    { headers },
    { path: "/v1/transcription/jobs" },
    { path: "/v1/audio/transcriptions", fields: { model: "auto" } },
    { fields: { model: "forbidden" } },
  ];
  const seen = [];
  for (const call of calls) {
    const answer = await postForm(gateway.origin, { key, file: AUDIO, ...call });
    seen.push([answer.status, ...leftIn(answer).map((left, index) => (before[index] ?? 0) - left)]);
  }
  // A replay calls no provider, and what is refused for its fields never came so far.
  assert.deepEqual(seen, [
    [200, 1, 1],
    [200, 2, 2],
    [200, 3, 2],
    [202, 4, 3],
    [200, 5, 4],
    [400, 6, 4],
  ]);
});

test("quotas.rate-limit-fields: of an exhausted quota the answer reports when there is more, as does 429", async () => {
  const answer = await postForm(gateway.origin, { key: secretOf("one-left"), file: AUDIO });
  assert.equal(answer.headers.get("ratelimit-policy"), '"requests";q=1;w=60');
  assert.match(answer.headers.get("ratelimit") ?? "", /^"requests";r=0;t=(5\d|60)$/);
});

test("quotas.smaller-applies: GET /v1/melimits reports the quotas of key and app", async () => {
  const { quotas } = limitsReport.parse((await get(gateway.origin, "/v1/melimits", secretOf("per-minute"))).json);
  assert.equal(quotas.app?.requests_per_minute, 3);
  assert.equal(quotas.key.requests_per_minute, null);
});

/** The key's own requests are fewer than the app's, the rest is the app's. */
const POLICY_REPORTED =
  '"requests";q=50;w=60, "audio-seconds";q=90;w=3600;qu="audio-seconds", "tokens";q=700;w=60;qu="tokens", "concurrent";q=9;qu="concurrent-requests"';

/** Of requests and of seconds. */
function leftIn({ headers }: Answer): readonly [number, number] {
  assert.equal(headers.get("ratelimit-policy"), POLICY_REPORTED);
  const fields = headers.get("ratelimit") ?? "";
  const found = /^"requests";r=(\d+);t=(?:5\d|60), "audio-seconds";r=(\d+);t=3[56]\d\d,.* "concurrent";r=[89]$/.exec(
    fields,
  );
  assert(found !== null, fields);
  return [Number(found[1]), Number(found[2])];
}

function ask(app: AppName): Promise<Answer> {
  return postForm(gateway.origin, { key: secretOf(app), file: AUDIO });
}

async function budgetOf(app: AppName) {
  const report = limitsReport.parse((await get(gateway.origin, "/v1/melimits", secretOf(app))).json);
  const [budget] = report.budgets;
  assert(budget !== undefined);
  return budget;
}

/** Decimal text and numbers alike, for what matters here is the amount. */
function amount(value: unknown): unknown {
  return typeof value === "string" && /^\d/.test(value) ? Number(value) : value;
}

/** Holds every request at its reservation while the gate is closed. */
function withGate(services: GatewayServices): GatewayServices {
  const { ledger } = services;
  const reserve: typeof ledger.reserve = async (reservation) => {
    moments.emit("reserve");
    await gate;
    return ledger.reserve(reservation);
  };
  return { ...services, ledger: { ...ledger, reserve } };
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const reported = { secret: secretOf("reported"), quota: { requests_per_minute: 50, audio_seconds_per_hour: 900 } };
  return configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    prices: { "deepgram/nova-3": "3.60", "deepgram/nova-2": { usd_per_audio_hour: "3.60", per_channel: true } },
    routes: {
      speech: "dg/nova-3",
      cheaper: ["dg/nova-3", "oa/whisper-1"],
      dear: ["dg/nova-3", "dg/nova-2"],
      channels: "dg/nova-2",
      unpriced: "oa/whisper-1",
    },
    apps: {
      ...byId(Object.keys(APPS) as AppName[], (id) => ({ ...APPS[id], key: secretOf(id) })),
      reported: { ...APPS.reported, keys: { "reported-key": reported } },
    },
  });
}
