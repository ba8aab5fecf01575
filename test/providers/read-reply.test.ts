// The figures and codes taken from a failed reply, and what is left behind (src/providers/wire/read-reply.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import { ProviderError } from "../../src/providers/io.ts";
import { readJsonReply, requestIdOf, retryAfterSeconds } from "../../src/providers/wire/read-reply.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

const RETRY_AFTER: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
  [{}, undefined],
  [{ "retry-after": "17" }, 17],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "1.5" }, 1.5],
  [{ "retry-after-ms": "250" }, 0.25],
  [{ "retry-after-ms": "250", "retry-after": "17" }, 0.25],
  [{ "retry-after-ms": "soon", "retry-after": "17" }, 17],
  [{ "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" }, 30],
  [{ "retry-after": "Fri, 20 Nov 2026 11:00:00 GMT" }, 0],
  [{ "retry-after": "86400" }, 3600],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "NaN" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
];
for (const [headers, expected] of RETRY_AFTER) {
  test(`providers.retry-after: ${JSON.stringify(headers)} means ${expected} seconds`, () => {
    assert.equal(
      retryAfterSeconds(headers, () => NOW),
      expected,
    );
  });
}

const REASONS: readonly (readonly [unknown, string | null])[] = [
  [{ error: { code: "invalid_api_key", message: "secret" } }, "invalid_api_key"],
  [{ error: { code: null, type: "server_error" } }, "server_error"],
  [{ error: { code: 400, type: "invalid_request_error" } }, "invalid_request_error"],
  [{ err_code: "INVALID_AUTH", err_msg: "secret" }, "INVALID_AUTH"],
  [{ error_code: "SERVICE_UNAVAILABLE" }, "SERVICE_UNAVAILABLE"],
  [{ category: "INVALID_JSON", message: "secret", details: "secret" }, "INVALID_JSON"],
  [{ error: { code: "the key sk-abc is wrong" } }, null],
  [{ error: { code: "sk-proj-a8B7c6" } }, null],
  [{ error: { code: "secretword" } }, null],
  [{ error: { code: "a".repeat(65) } }, null],
  [{ error: "Invalid request" }, null],
  [{ detail: "Not found" }, null],
  ["text", null],
  [null, null],
];
for (const [body, expected] of REASONS) {
  test(`providers.failure-message: only codes are taken from a failed reply: ${JSON.stringify(body).slice(0, 70)} gives ${expected}`, () => {
    assert.throws(
      () => readJsonReply({ status: 400, headers: {}, text: JSON.stringify(body) }, "secretword"),
      (error: unknown) => error instanceof ProviderError && error.reason === expected,
    );
  });
}

const SUCCESS: readonly (readonly [object, boolean])[] = [
  [{ text: "Hi.", error: null }, true],
  [{ text: "Hi.", error: "" }, true],
  [{ text: "Hi.", error: {} }, true],
  [{ text: "Hi.", detail: [] }, true],
  [{ text: "Hi.", err_msg: "", error: false }, true],
  [{ text: "Hi.", error: "no audio" }, false],
  [{ text: "Hi.", error: { message: "" } }, false],
  [{ text: "Hi.", detail: [{}] }, false],
  [{ text: "Hi.", object: "error" }, false],
];
for (const [body, succeeded] of SUCCESS) {
  test(`providers.error-fields: under status 200, ${JSON.stringify(body)} is ${succeeded ? "no error: its field is empty" : "an error body"}`, () => {
    const read = () => readJsonReply({ status: 200, headers: {}, text: JSON.stringify(body) }, null);
    if (succeeded) assert.deepEqual(read().body, body);
    else assert.throws(read, (error: unknown) => error instanceof ProviderError && error.kind === "bad_reply");
  });
}

for (const [encoding, read] of [
  ["", true],
  ["Identity", true],
  ["gzip", false],
  ["identity, br", false],
] as const) {
  test(`providers.failure-kinds: a success whose Content-Encoding is ${JSON.stringify(encoding)} is ${read ? "read" : "no reply"}`, () => {
    const reply = { status: 200, headers: { "content-encoding": encoding }, text: '{"text":"Hi."}' };
    if (read) assert.deepEqual(readJsonReply(reply, null).body, { text: "Hi." });
    else assert.throws(() => readJsonReply(reply, null), ProviderError);
  });
}

test("providers.request-id: a request id is kept if it is one visible word of at most 128 characters", () => {
  assert.equal(requestIdOf({ "x-request-id": "req_0f2c" }, "x-request-id"), "req_0f2c");
  assert.equal(requestIdOf({}, "x-request-id"), null);
  for (const wrong of ["", "two words", "x".repeat(129), "ümlaut"]) {
    assert.equal(requestIdOf({ "x-request-id": wrong }, "x-request-id"), null);
  }
});

test("providers.bounded-work: values that were counted while a reply arrived are not counted again, and those of others are", () => {
  const reply = { status: 200, headers: {}, text: `{"a":[${"1,".repeat(30_000)}1]}` };
  assert.throws(
    () => readJsonReply(reply, null),
    (error: unknown) => error instanceof ProviderError && error.reason === "too_many_values",
  );
  assert.notEqual(readJsonReply({ ...reply, isLight: true }, null).body, undefined);
});
