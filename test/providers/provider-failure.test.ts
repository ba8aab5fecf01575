// What is kept of a provider's refusal: its own code, id and message, without secrets and cut.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanMessage, MAX_MESSAGE_CHARACTERS, providerFailure } from "../../src/providers/wire/provider-failure.ts";
import { recordableFailure } from "../../src/providers/wire/recordable-failure.ts";

const CREDENTIAL = "dg-secret-abcd/1234";
const failure = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  providerFailure(
    { status, headers, text: typeof body === "string" ? body : JSON.stringify(body) },
    typeof body === "string" ? undefined : body,
    CREDENTIAL,
  );
/** As it reaches the request's record. */
const recorded = (status: number, body: unknown, texts: readonly string[] = [], headers: Record<string, string> = {}) =>
  recordableFailure(failure(status, body, headers), () => texts) ?? assert.fail("no failure");

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
  ["OAuth", { error: "invalid_grant", error_description: "Invalid signature." }, "invalid_grant", "Invalid signature."],
  ["a page in a field", { error: { message: "<!doctype html><p>Down</p>", code: "down" } }, "down", null],
  [
    "JSON in a text",
    { error: { message: '{"error":{"message":"Too \\u0022long\\u0022"}}' } },
    null,
    '{"error":{"message":"Too "long""}}',
  ],
  ["a number for a code", { code: 40_013, message: "Busy." }, "40013", "Busy."],
  ["plain text", "upstream connect error", null, "upstream connect error"],
  ["a page", "<html><body>502</body></html>", null, null],
  ["nothing", "", null, null],
];
for (const [name, body, code, message] of BODIES) {
  test(`providers.failure-message: FLD-18, of a refusal as ${name} writes it, its own code and message are kept`, () => {
    assert.deepEqual(recorded(429, body, [], { "x-request-id": "req-7" }), {
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

const IDS: readonly [string, unknown, Record<string, string>, string | null][] = [
  ["OpenAI and Groq", {}, { "x-request-id": "req_1" }, "req_1"],
  ["Anthropic", { request_id: "req_2" }, { "request-id": "req_2h" }, "req_2h"],
  ["Anthropic's body alone", { type: "error", error: {}, request_id: "req_2" }, {}, "req_2"],
  ["Deepgram", { err_code: "x", request_id: "dg-3" }, { "dg-request-id": "dg-3h" }, "dg-3h"],
  ["Deepgram's body alone", { err_code: "x", request_id: "dg-3" }, {}, "dg-3"],
  ["ElevenLabs", { detail: { status: "x", request_id: "el-4" } }, {}, "el-4"],
  ["Azure", {}, { "apim-request-id": "az-5" }, "az-5"],
  ["a text with a line break", { request_id: "a\nb" }, {}, null],
  ["the key", { request_id: CREDENTIAL }, {}, null],
];
for (const [name, body, headers, id] of IDS) {
  test(`providers.failure-message: the request id is read where ${name} writes it`, () => {
    assert.equal(recorded(500, body, [], headers).requestId, id);
  });
}

test("providers.failure-message: no e-mail address, number of a card or telephone, or token of a URL is in a message", () => {
  const { message } = recorded(400, {
    error: `Account jane.doe@example.org, card 4111 1111 1111 1111, see https://u:p@api.example/x?token=abc#frag, call +41 79 123 45 67 89`,
  });
  assert.equal(message, "Account [redacted], card [redacted], see https://api.example/x call +[redacted]");
});

const PROMPT = "My secret project is called Falcon Nine, it launches in May. Do not tell Ms. Brückner-Straße!";
const SHORT = "hunter2";
const FOREIGN = "患者さんは昨日から熱があります";
const hidden = ["falcon nine", "launches in may", "brückner", "bruckner", "hunter2", "昨日から熱"];
const spelled = (text: string): string =>
  Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const QUOTING: readonly [string, unknown][] = [
  ["whole", { error: { message: `Invalid content: ${PROMPT}` } }],
  ["in part", { error: { message: "Content was refused near 'project is called Falcon Nine, it launches' (policy)" } }],
  ["one quoted name", { error: { message: "The word 'Falcon Nine' is not allowed" } }],
  ["in upper case without punctuation", { err_msg: `BAD ${PROMPT.toUpperCase().replaceAll(/[^A-Z ]/gu, "")}` }],
  ["with other white space", { error: `BAD ${PROMPT.replaceAll(" ", "\t\r\n\u0000")}` }],
  ["in escapes of JSON", { error: `BAD ${spelled(PROMPT)}` }],
  ["in escapes of JSON in JSON", { error: JSON.stringify(JSON.stringify({ prompt: PROMPT })) }],
  ["in escapes of a URL", { error: `BAD ${encodeURIComponent(PROMPT)}` }],
  ["in escapes of HTML", { error: `BAD ${Array.from(PROMPT, (letter) => `&#${letter.codePointAt(0)};`).join("")}` }],
  ["around a secret", { error: `BAD ${PROMPT.slice(0, 40)}sk-abcdef0123456789${PROMPT.slice(40)}` }],
  ["in base64", { error: `BAD ${Buffer.from(PROMPT).toString("base64")}` }],
  ["as a page", `<html><body>${PROMPT}</body></html>`],
  ["as plain text", `upstream said: ${PROMPT}`],
  ["in 10 kB", { error: { message: `${"padding ".repeat(600)}${PROMPT}${" padding".repeat(600)}` } }],
  ["as the code", { error: { code: SHORT, message: "no" } }],
  ["as the request id", { request_id: SHORT, error: "no" }],
  ["a short text", { error: { message: `Cannot parse "${SHORT}", or ${SHORT}.` } }],
  ["in a script without spaces", { error: { message: `無効: 昨日から熱があ` } }],
];
for (const [name, body] of QUOTING) {
  test(`providers.failure-quotes: no text of the request is recorded that a provider quotes ${name}`, () => {
    const written = JSON.stringify(recorded(400, body, [PROMPT, SHORT, FOREIGN])).toLowerCase();
    for (const part of hidden) assert.ok(!written.includes(part), `${part} in ${written}`);
    assert.ok(Array.from(recorded(400, body, [PROMPT]).message ?? "").length <= MAX_MESSAGE_CHARACTERS);
  });
}

test("providers.failure-quotes: what the provider says itself stays", () => {
  assert.equal(recorded(400, { error: { code: 3, message: "no" } }, ["Buy 3 apples"]).code, "3");
  assert.equal(
    recorded(400, { error: "This model's maximum context length is 8192 tokens." }, [PROMPT, SHORT]).message,
    "This model's maximum context length is 8192 tokens.",
  );
  assert.equal(
    recorded(400, { error: `Refused by policy 7: "${PROMPT}" was not processed` }, [PROMPT]).message,
    'Refused by policy 7: "[request text]!" was not processed',
  );
});

test("providers.failure-quotes: no text of an answer is recorded that is in the same body", () => {
  const body = {
    error: { message: `Stopped after: ${PROMPT}` },
    results: [{ alternatives: [{ transcript: PROMPT }] }],
  };
  assert.equal(recorded(200, body).message, "Stopped after: [request text]!");
  const long = {
    error: { message: "Stopped." },
    words: Array.from({ length: 6_000 }, (_, index) => ({ text: `w${index}` })),
  };
  assert.equal(recorded(200, long).message, null, "more than can be compared");
});

test("providers.failure-quotes: with more text than can be compared, only status, code and id are recorded", () => {
  const { status, code, message } = recorded(400, { error: { code: "too_long", message: "Too long." } }, [
    "word ".repeat(120_000),
  ]);
  assert.deepEqual([status, code, message], [400, "too_long", null]);
});

test("providers.failure-quotes: a code and an id that quote the request are dropped, in any case and within a longer code", () => {
  const texts = ["Please call Zanzibar Holding about 4711-Alpha"];
  for (const [code, kept] of [
    ["zanzibar", null],
    ["ZANZIBAR_HOLDING", null],
    ["term:zanzibar-holding", null],
    ["invalid_term", "invalid_term"],
  ] as const) {
    const { code: recordedCode, requestId } = recorded(400, { error: { code, message: "No." } }, texts, {
      "x-request-id": "4711-alpha",
    });
    assert.deepEqual([recordedCode, requestId], [kept, null], code);
  }
  const long = ["x".repeat(200_000), "Please call Zanzibar"];
  assert.equal(recorded(400, { error: { code: "Zanzibar" } }, long).code, null);
});
