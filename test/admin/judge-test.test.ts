// The outcome of each answer to a connection's test, and that its message says what to do. A table, because it is pure.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeTest } from "../../src/admin/connections/judge-test.ts";
import { TEST_OUTCOMES } from "../../src/contract/admin/connection-test.ts";
import { ProviderError } from "../../src/providers/io.ts";

const KNOWN = { hasCredential: true, models: [], undeclared: null };
const model = (found: boolean | null) => ({
  model: "m",
  capabilities: [],
  features: [],
  weak_features: [],
  life: null,
  not_offered: null,
  found,
});
const listed = (kind: "accepted" | "open") => ({ kind, status: 200, listed: { models: [], isWhole: true } }) as const;
const failed = (...[kind, options]: ConstructorParameters<typeof ProviderError>) => new ProviderError(kind, options);

const TABLE: readonly (readonly [
  answer: Parameters<typeof judgeTest>[0],
  outcome: string,
  message: RegExp,
  known?: Partial<Parameters<typeof judgeTest>[1]>,
])[] = [
  [null, "no_credential", /Set one and test again/u],
  [
    { kind: "accepted", status: 200, listed: null },
    "accepted",
    /accepts the credential\. It does not report which models/u,
  ],
  [listed("accepted"), "accepted", /lists 2 models: declare/u, { undeclared: ["a", "b"] }],
  [
    listed("accepted"),
    "accepted",
    /lists 1 of the 3 models/u,
    { models: [true, false, null].map(model), undeclared: [] },
  ],
  [listed("accepted"), "accepted", /responds without a credential/u, { hasCredential: false }],
  [listed("open"), "unproven", /without the credential.*Try a call/u, { undeclared: [] }],
  [{ kind: "whisper_cpp", status: 200, path: "/inference" }, "unproven", /at `\/inference`.*not needed/u],
  [
    { kind: "whisper_cpp", status: 200, path: "/v1/audio/transcriptions" },
    "accepted",
    /at `\/v1\/audio\/transcriptions`.*dialect: whisper-cpp/u,
    { hasCredential: false },
  ],
  [{ kind: "whisper_cpp", status: 404, path: null }, "unexpected", /Set `transcribe_path`.*--inference-path/u],
  [{ kind: "restricted", status: 403, code: "c" }, "restricted", /HTTP 403.*still work for calls.*try a call/u],
  [{ kind: "restricted", status: 403, code: "c" }, "refused", /requires a credential/u, { hasCredential: false }],
  [failed("unauthorized", { status: 401 }), "refused", /HTTP 401.*Enter it again completely/u],
  [failed("unauthorized", { status: 401 }), "refused", /requires a credential/u, { hasCredential: false }],
  [failed("unauthorized", { reason: "private_key" }), "refused", /is malformed, so nothing was sent/u],
  [failed("payment", { status: 402 }), "out_of_credit", /top up/u],
  [failed("rate_limited", { status: 429, retryAfterSeconds: 16.2 }), "busy", /HTTP 429.*in 17 s/u],
  [failed("rate_limited", { status: 429 }), "busy", /Test again later/u],
  [failed("server_error", { status: 503 }), "failing", /HTTP 503.*later/u],
  [failed("unknown", { status: 504 }), "failing", /HTTP 504/u],
  [failed("unknown"), "unreachable", /broke before the answer/u],
  [failed("timeout"), "unreachable", /No answer in time/u],
  [failed("aborted"), "unreachable", /No answer/u],
  [failed("connect", { reason: "ECONNREFUSED" }), "unreachable", /name can be resolved/u],
  [failed("connect", { reason: "address_refused" }), "address_refused", /Change `base_url`/u],
  [failed("server_error", { status: 307 }), "unexpected", /redirects elsewhere \(HTTP 307\)/u],
  [failed("not_found", { status: 404 }), "unexpected", /Nothing was found.*HTTP 404/u],
  [failed("server_error", { status: 405 }), "unexpected", /Nothing was found/u],
  [failed("rejected", { status: 400 }), "unexpected", /does not accept the request \(HTTP 400\)/u],
  [failed("server_error", { status: 409 }), "unexpected", /does not accept the request \(HTTP 409\)/u],
  [failed("bad_reply", { status: 200 }), "unexpected", /not from this provider \(HTTP 200\)/u],
  [failed("bad_reply"), "unexpected", /not from this provider\. Check/u],
];

for (const [answer, outcome, message, known = {}] of TABLE)
  test(`admin.test-outcome, providers.test-outcome: ${answer instanceof Error ? answer.message : JSON.stringify(answer)} is ${outcome}, with what to do`, () => {
    const judged = judgeTest(answer, { ...KNOWN, ...known });
    assert.deepEqual([judged.outcome, judged.ok], [outcome, outcome === "accepted"]);
    assert.match(judged.message, message);
    assert.equal(judged.status, answer === null ? null : answer.status);
  });

test("admin.test-outcome: every outcome has a row, and a code is returned except where it repeats the outcome", () => {
  assert.deepEqual([...new Set(TABLE.map(([, outcome]) => outcome))].toSorted(), TEST_OUTCOMES.toSorted());
  const codeOf = (error: ProviderError) => judgeTest(error, KNOWN).code;
  assert.equal(codeOf(failed("connect", { reason: "ENOTFOUND" })), "ENOTFOUND");
  assert.equal(codeOf(failed("unauthorized", { status: 401, reason: "INVALID_AUTH" })), "INVALID_AUTH");
  assert.equal(codeOf(failed("connect", { reason: "address_refused" })), null);
});
