// Translation by a chat model: what it refuses, and that a failure costs nothing.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, beforeEach, test } from "node:test";
import { answer, json } from "../../harness/chat-upstream.ts";
import { detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { pauseIn, resumeIn } from "../../harness/pause.ts";
import { attemptsIn, keyOf, startViaChat, translateVia, type ViaChat } from "./via-chat.ts";

let gateway: ViaChat;
const settled = new EventEmitter();
/** Of a model; none is sent anything while its circuit is open. */
let resting: string | null = null;
/** When the speech is reserved, and so its targets and the chat's are chosen. */
let whenChosen: () => Promise<unknown> = async () => undefined;
before(async () => {
  gateway = await startViaChat({
    wrapGateway: (services) => ({
      ...services,
      circuits: { isHealthy: (key) => resting === null || !key.endsWith(`/${resting}`), begin: () => () => undefined },
      ledger: {
        ...services.ledger,
        reserve: async (reservation) => {
          if (reservation.audioMs > 0) await whenChosen();
          return services.ledger.reserve(reservation);
        },
        settle: async (settlement) => {
          const answered = await services.ledger.settle(settlement);
          settled.emit(settlement.outcome);
          return answered;
        },
      },
    }),
  });
});
after(() => gateway.close());
beforeEach(() => {
  resting = null;
  whenChosen = async () => undefined;
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  for (const upstream of [gateway.first, gateway.second]) {
    upstream.calls.length = 0;
    upstream.behave(answer);
  }
});

const called = () => [gateway.sandbox.callCount, gateway.first.calls.length, gateway.second.calls.length];
const NOT_DELIVERED = ["nova-3", "failed:not_delivered", 0n, 0n];

for (const app of ["off", "mute"] as const) {
  test(`translation.chat-allowed: a route ${app === "off" ? "that does not allow it" : "without a chat target"} refuses: 422, nothing called`, async () => {
    const reply = await translateVia(gateway, app);
    assert.equal(reply.code, "REQUIRED_FEATURE_UNSUPPORTED");
    assert.deepEqual(detailsOf(reply)["missing"], ["translation"]);
    assert.deepEqual(called(), [0, 0, 0]);
  });
}

for (const [fields, missing] of [
  [{ timestamps: "word" }, "timestamps.word"],
  [{ timestamps: "segment" }, "timestamps.segment"],
  [{ response_format: "verbose_json" }, "timestamps.segment"],
  [{ response_format: "srt" }, "timestamps.segment"],
  [{ response_format: "vtt" }, "timestamps.segment"],
  [{ response_format: "diarized_json" }, "diarization"],
  [{ diarization: "true" }, "diarization"],
  [{ multichannel: "true" }, "multichannel"],
] as const) {
  test(`translation.chat-lost-features: ${JSON.stringify(fields)} belongs to the spoken words: refused, named, nothing called`, async () => {
    const reply = await translateVia(gateway, "via", { fields });
    assert.equal(reply.code, "REQUIRED_FEATURE_UNSUPPORTED");
    assert.deepEqual(detailsOf(reply)["missing"], [missing]);
    assert.deepEqual(called(), [0, 0, 0]);
  });
}

test("translation.chat-lost-features: a translation that is to be streamed is refused, and no chat is called", async () => {
  const reply = await translateVia(gateway, "via", { fields: { stream: "true" } });
  assert.equal(reply.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.deepEqual(called(), [0, 0, 0]);
});

test("translation.chat-jobs: a job that would need a chat is refused when it is submitted", async () => {
  const reply = await postForm(gateway.origin, {
    key: keyOf("via"),
    path: "/v1/transcription/jobs",
    fields: { task: "translate", to_language: "fr" },
  });
  assert.deepEqual([reply.status, reply.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
  assert.deepEqual(called(), [0, 0, 0]);
});

test("translation.chat-failed: every chat target failed after the speech: nothing is charged, and the key may run again", async () => {
  const headers = { "Idempotency-Key": "via-chat-definite" };
  for (const upstream of [gateway.first, gateway.second])
    upstream.behave((call) => json(call, 500, { error: { message: "no", type: "server_error", code: null } }));
  const reply = await translateVia(gateway, "via", { headers });
  assert.deepEqual([reply.status, reply.code], [503, "all_providers_exhausted"]);
  assert.deepEqual(called(), [1, 1, 1]);
  assert.deepEqual(await attemptsIn(gateway, reply), [
    NOT_DELIVERED,
    ["one", "failed:server_error", 0n, 0n],
    ["two", "failed:server_error", 0n, 0n],
  ]);
  gateway.first.behave(answer);
  envelopeOf(await translateVia(gateway, "via", { headers }));
});

test("translation.chat-failed: one chat target refuses the text and one is unavailable: 503 exhausted, as that one was not asked", async () => {
  resting = "two";
  gateway.first.behave((call) =>
    json(call, 400, { error: { message: "no", type: "invalid_request_error", code: null } }),
  );
  const reply = await translateVia(gateway);
  assert.deepEqual([reply.status, reply.code], [503, "all_providers_exhausted"]);
  assert.deepEqual(detailsOf(reply)["attempts"], [{ position: 2, reason: "rejected" }]);
  assert.deepEqual(called(), [1, 1, 0]);
});

test("translation.chat-unknown: a chat of unknown outcome without a further target burns the key, and the speech is not transcribed again", async () => {
  const headers = { "Idempotency-Key": "via-chat-unknown" };
  for (const upstream of [gateway.first, gateway.second])
    upstream.behave(({ response }) => void response.socket?.resetAndDestroy());
  const reply = await translateVia(gateway, "via", { headers });
  assert.deepEqual(
    [reply.status, reply.code, reply.headers.get("x-should-retry")],
    [503, "all_providers_exhausted", "false"],
  );
  assert.deepEqual(await attemptsIn(gateway, reply), [
    NOT_DELIVERED,
    ["one", "unknown", 0n, 0n],
    ["two", "unknown", 0n, 0n],
  ]);
  const again = await translateVia(gateway, "via", { headers });
  assert.equal(again.code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  assert.deepEqual(called(), [1, 1, 1]);
});

test("translation.chat-unknown: a transcript of unknown outcome burns the key; no chat is called and nothing transcribed again", async () => {
  const headers = { "Idempotency-Key": "via-chat-speech-unknown" };
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "reset_after_body" } });
  const reply = await translateVia(gateway, "via", { headers });
  assert.equal(reply.code, "PROVIDER_RESULT_UNKNOWN");
  assert.equal((await translateVia(gateway, "via", { headers })).code, "IDEMPOTENT_RESULT_UNAVAILABLE");
  assert.deepEqual(called(), [1, 0, 0]);
  assert.deepEqual(await attemptsIn(gateway, reply), [["nova-3", "unknown", 0n, 0n]]);
});

for (const [app, kind] of [
  ["tokens", "tokens"],
  ["money", "usd"],
] as const) {
  test(`translation.chat-budget: a budget of ${kind} that the chat would exceed: 402, no chat, nothing charged, nothing held`, async () => {
    const reply = await translateVia(gateway, app);
    assert.deepEqual([reply.status, reply.code], [402, "BUDGET_EXCEEDED"]);
    assert.equal(detailsOf(reply)["kind"], kind);
    assert.deepEqual(called(), [1, 0, 0]);
    assert.deepEqual(await attemptsIn(gateway, reply), [NOT_DELIVERED]);
    assert.deepEqual(await heldBy(app), [0n, 0n, 0n, 0n, 0n, 0n]);
  });
}

test("translation.chat-budget: a budget of seconds counts what was delivered alone, and is never exceeded", async () => {
  for (const upstream of [gateway.first, gateway.second])
    upstream.behave((call) => json(call, 500, { error: { message: "no", type: "server_error", code: null } }));
  assert.equal((await translateVia(gateway, "seconds")).code, "all_providers_exhausted");
  gateway.first.behave(answer);
  envelopeOf(await translateVia(gateway, "seconds"));
  assert.equal((await translateVia(gateway, "seconds")).code, "BUDGET_EXCEEDED");
  assert.deepEqual(called(), [2, 2, 1]);
});

test("translation.chat-budget: the quota of tokens counts the chat of a translation", async () => {
  const reply = await translateVia(gateway, "quota");
  assert.equal(reply.code, "RATE_LIMITED");
  assert.equal(gateway.first.calls.length, 0);
  assert.deepEqual(await attemptsIn(gateway, reply), [NOT_DELIVERED]);
});

test("translation.chat-hang-up: a caller without a key who hangs up during the chat stops it and pays for what ran", async () => {
  const leaving = new AbortController();
  const speechSettled = once(settled, "succeeded");
  gateway.first.behave(() => leaving.abort());
  await assert.rejects(translateVia(gateway, "via", { signal: leaving.signal }), { name: "AbortError" });
  await speechSettled;
  const rows = await gateway.database.db
    .selectFrom("attempts")
    .select(["model", "outcome", "state", "charge_nano_usd"])
    .orderBy("created_at", "desc")
    .limit(2)
    .execute();
  assert.deepEqual(
    rows.toSorted((one, other) => one.model.localeCompare(other.model)).map(({ model, outcome }) => [model, outcome]),
    [
      ["nova-3", "succeeded"],
      ["one", "aborted"],
    ],
  );
  for (const { charge_nano_usd: charge } of rows) assert((charge ?? 0n) > 0n);
});

async function heldBy(app: string): Promise<readonly bigint[]> {
  const windows = await gateway.database.db
    .selectFrom("budget_windows")
    .innerJoin("budgets", "budgets.id", "budget_windows.budget_id")
    .innerJoin("apps", "apps.id", "budgets.app_id")
    .where("apps.name", "=", app)
    .selectAll("budget_windows")
    .execute();
  return windows.flatMap((row) => [
    row.reserved_nano_usd,
    row.spent_nano_usd,
    row.reserved_audio_ms,
    row.spent_audio_ms,
    row.reserved_tokens,
    row.spent_tokens,
  ]);
}

test("translation.chat-paused: where every chat model is paused the recording is not transcribed either: 503, nothing called", async () => {
  try {
    await pauseIn(gateway, "first");
    assert.equal((await translateVia(gateway, "via")).status, 200);
    assert.deepEqual(called(), [1, 0, 1]);
    await pauseIn(gateway, "second");
    const refused = await translateVia(gateway, "via");
    assert.deepEqual([refused.status, refused.code], [503, "all_providers_exhausted"]);
    assert.match(refused.text, /paused manually/u);
    assert.deepEqual(called(), [1, 0, 1]);
  } finally {
    await resumeIn(gateway);
  }
});

test("translation.chat-paused: a chat target that is paused during the transcription is not called; where all are, nothing is charged", async () => {
  try {
    whenChosen = () => pauseIn(gateway, "first");
    assert.equal((await translateVia(gateway)).status, 200);
    assert.deepEqual(called(), [1, 0, 1]);
    await resumeIn(gateway);
    whenChosen = () => Promise.all(["first", "second"].map((connection) => pauseIn(gateway, connection)));
    const refused = await translateVia(gateway);
    assert.deepEqual([refused.status, refused.code], [503, "all_providers_exhausted"]);
    assert.deepEqual(called(), [2, 0, 1]);
    assert.deepEqual(await attemptsIn(gateway, refused), [NOT_DELIVERED]);
  } finally {
    await resumeIn(gateway);
  }
});
