// What is kept of a provider's refusal: its own code, id and message, without secrets and cut.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanMessage, MAX_MESSAGE_CHARACTERS, providerFailure } from "../../src/providers/wire/provider-failure.ts";

const CREDENTIAL = "dg-secret-abcd/1234";
const failure = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  providerFailure(
    { status, headers, text: typeof body === "string" ? body : JSON.stringify(body) },
    typeof body === "string" ? undefined : body,
    CREDENTIAL,
  );

const BODIES: readonly [string, unknown, string | null, string | null][] = [
  [
    "OpenAI",
    { error: { message: "No such model.", type: "invalid_request_error", code: "model_not_found" } },
    "model_not_found",
    "No such model.",
  ],
  [
    "OpenAI without a code",
    { error: { message: "Slow down.", type: "requests", code: null } },
    "requests",
    "Slow down.",
  ],
  [
    "Anthropic",
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "overloaded_error",
    "Overloaded",
  ],
  ["Google", { error: { code: 400, status: "INVALID_ARGUMENT", message: "Bad." } }, "INVALID_ARGUMENT", "Bad."],
  ["Deepgram", { err_code: "Bad Request", err_msg: "Bad audio.", request_id: "r" }, null, "Bad audio."],
  [
    "Deepgram's newer form",
    { category: "INVALID_JSON", message: "Bad JSON.", details: "…" },
    "INVALID_JSON",
    "Bad JSON.",
  ],
  ["ElevenLabs", { detail: { status: "quota_exceeded", message: "Nothing left." } }, "quota_exceeded", "Nothing left."],
  ["FastAPI", { detail: [{ type: "missing", msg: "Field required" }] }, "missing", "Field required"],
  [
    "AssemblyAI",
    { error: "Authentication error, API token missing/invalid" },
    null,
    "Authentication error, API token missing/invalid",
  ],
  ["a number for a code", { code: 40_013, message: "Busy." }, "40013", "Busy."],
  ["plain text", "upstream connect error", null, "upstream connect error"],
  ["a page", "<html><body>502</body></html>", null, null],
  ["nothing", "", null, null],
];
for (const [name, body, code, message] of BODIES) {
  test(`providers.failure-message: FLD-18, of a refusal as ${name} writes it, its own code and message are kept`, () => {
    assert.deepEqual(failure(429, body, { "x-request-id": "req-7" }), {
      status: 429,
      code,
      requestId: "req-7",
      message,
    });
  });
}

const SECRETS = [
  CREDENTIAL,
  encodeURIComponent(CREDENTIAL),
  Buffer.from(CREDENTIAL).toString("base64"),
  "sk-proj-abcdef0123456789",
  "sk-abc***************wxyz",
  "AIzaSyA1234567890abcdefghijklmnopqrstuv",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  "svc_live_0123456789abcdefABCDEF0123456789",
  "0123456789abcdef0123456789abcdef01234567",
];
test("providers.failure-message: FLD-18, no secret is in a message, a code or an id, whatever its spelling", () => {
  for (const secret of SECRETS) {
    const { message, code, requestId } = failure(
      401,
      {
        error: {
          message: `Incorrect API key provided: ${secret}. See https://user:pw@docs.example/keys?key=${secret}`,
          code: secret,
        },
      },
      { "x-request-id": secret === CREDENTIAL ? secret : "req-1" },
    );
    for (const text of [message, code, secret === CREDENTIAL ? requestId : null])
      assert.ok(text === null || !text.includes(secret), `${secret} in ${text}`);
    assert.ok(
      message !== null && !message.includes("pw@") && message.includes("https://docs.example/keys"),
      message ?? "",
    );
  }
  assert.equal(cleanMessage("authorization: Bearer abcdefgh", null)?.includes("abcdefgh"), false);
});

test("providers.failure-message: FLD-18, a message is cut at 500 characters after the removal, on one line, and in whole characters", () => {
  const cut = cleanMessage(`${"👋 ".repeat(400)}${CREDENTIAL}`, CREDENTIAL) ?? "";
  assert.equal(Array.from(cut).length, MAX_MESSAGE_CHARACTERS);
  assert.ok(cut.isWellFormed() && cut.endsWith("…"));
  const secretAtTheCut = cleanMessage(`${"x ".repeat(247)}${CREDENTIAL}`, CREDENTIAL) ?? "";
  assert.ok(!secretAtTheCut.includes(CREDENTIAL.slice(0, 4)), secretAtTheCut.slice(-30));
  assert.equal(cleanMessage("a\u0000b\r\nc\u202e", null), "a b c");
  assert.equal(cleanMessage("\u0000", null), null);
});
