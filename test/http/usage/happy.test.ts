// GET /v1/usage: the app's attempts added up, never two billing classes in one sum.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type UsageReport, usageReport } from "../../../src/contract/usage.ts";
import { fixture } from "../../audio/build-audio.ts";
import { HELLO, postChat } from "../../harness/chat-client.ts";
import { type Answer, get, postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { NARROW_KEY, POOR_KEY, SEEING_KEY, startRecordGateway, written } from "../requests/records.ts";

/** One second exactly. */
const AUDIO = fixture("speech-44k-stereo.wav");
let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
after(() => gateway.close());

const today = (): string => new Date().toISOString().slice(0, 10);
const ask = (query = "", key = SEEING_KEY): Promise<Answer> => get(gateway.origin, `/v1/usage${query}`, key);
async function usage(query = "", key = SEEING_KEY): Promise<UsageReport> {
  await written(gateway);
  const answer = await ask(query, key);
  assert.equal(answer.status, 200, answer.text);
  return usageReport.parse(answer.json);
}

test("usage.default-groups: delivered work adds up by day, purpose, model and billing class; a failed call has no seconds", async () => {
  assert.deepEqual(await usage().then(({ data, totals }) => [data, totals]), [[], []]);
  await postForm(gateway.origin, { file: AUDIO });
  await postForm(gateway.origin, { file: AUDIO, fields: { purpose: "meetings" } });
  gateway.sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 500 } });
  await postForm(gateway.origin, { file: AUDIO });
  await postChat(gateway.origin, { messages: HELLO });
  const report = await usage();
  const of = (model: string, purpose: string | null) =>
    report.data.find((row) => row.model === model && row.purpose === purpose);
  assert.deepEqual(
    [of("nova-3", null), of("nova-3", "meetings"), of("whisper-1", null)].map((row) => [
      row?.day,
      row?.attempts,
      row?.failed,
      row?.audio_seconds,
      row?.charge_usd,
      row?.billing_class,
    ]),
    [
      [today(), 2, 1, 1, "0.001", "metered"],
      [today(), 1, 0, 1, "0.001", "metered"],
      [today(), 1, 0, 1, "0.002", "metered"],
    ],
  );
  const chat = of("one", null);
  assert(chat !== undefined && chat.input_tokens > 0 && chat.estimated_input_tokens === 0);
  assert.equal(chat.charge_usd, chat.list_usd);
  const [total, ...others] = report.totals;
  assert.deepEqual([total?.billing_class, total?.attempts, total?.audio_seconds, others], ["metered", 5, 3, []]);
  const charges = await gateway.database.db.selectFrom("attempts").select("charge_nano_usd").execute();
  const sum = charges.map(({ charge_nano_usd: charge }) => charge ?? 0n).reduce((a, b) => a + b, 0n);
  assert.equal(BigInt(Math.round(Number(total?.charge_usd) * 1e9)), sum);
});

test("usage.names: without routing:read models are not shown separately, and the sums are the same", async () => {
  const [blind, seeing] = [await usage("", KEY), await usage()];
  assert.deepEqual(blind.totals, seeing.totals);
  assert(blind.data.length > 0 && blind.data.every((row) => row.model === undefined && row.provider === undefined));
  assert(blind.data.length < seeing.data.length);
});

test("usage.figures, usage.classes-separate: what a provider bills is separate from what the app is charged", async () => {
  await gateway.database.db
    .updateTable("attempts")
    .set({ billing_class: "provider_billed", charge_nano_usd: 0 })
    .where("model", "=", "whisper-1")
    .execute();
  const { totals } = await usage();
  assert.deepEqual(
    totals.map((total) => [total.billing_class, total.audio_seconds]),
    [
      ["metered", 2],
      ["provider_billed", 1],
    ],
  );
  assert.deepEqual([totals[1]?.charge_usd, totals[1]?.list_usd], ["0.00", "0.002"]);
});

test("usage.bounds, usage.invalid: the days asked for and no others; days that make no range are refused", async () => {
  assert.equal((await usage(`?from=${today()}&to=${today()}`)).totals.length, 2);
  assert.deepEqual((await usage("?from=2020-01-01&to=2020-01-31")).data, []);
  const before = (await usage("?from=2020-01-01&to=2020-01-31")).to;
  assert.equal(before, "2020-02-01T00:00:00.000Z");
  for (const query of [
    "?from=2026-02-30",
    "?from=yesterday",
    "?from=2026-02-02&to=2026-02-01",
    "?from=2020-01-01&to=2022-01-01",
    "?of=me",
  ])
    assert.equal((await ask(query)).code, "INVALID_REQUEST", query);
});

test("usage.budgets: the app's budgets are in the answer, with what is spent", async () => {
  assert.deepEqual((await usage()).budgets, []);
  const [budget] = (await usage("", POOR_KEY)).budgets;
  assert.deepEqual([budget?.limit_usd, budget?.spent_usd, budget?.remaining_usd], ["0.00", "0.00", "0.00"]);
});

test("usage.tenancy: another app and another workspace see none of it; any key of the app all of it", async () => {
  assert.deepEqual((await usage("", OTHER_KEY)).data, []);
  assert.deepEqual((await usage("", POOR_KEY)).data, []);
  assert.deepEqual((await usage("", NARROW_KEY)).totals, (await usage()).totals);
  assert.equal((await ask("", "stranger's-key")).status, 401);
});
