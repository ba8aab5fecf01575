// The error body for every code, in both forms, and that an unknown error shows nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askApp } from "./ask-app.ts";
import { errorBody, problemBody } from "../../../src/contract/error-body.ts";
import { ERRORS, type ErrorCode, GatewayError } from "../../../src/contract/errors.ts";
import { newId } from "../../../src/contract/ids.ts";
import { errorReply } from "../../../src/http/reply/error-reply.ts";
import { PUBLIC_URL, testEdge } from "./harness.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];
const context = { requestId: newId("request"), publicUrl: `${PUBLIC_URL}/`, accept: undefined };

for (const code of CODES) {
  test(`errors.one-body, errors.retryable-views, errors.no-store: ${code} has the one body, and three views of retryable agree`, () => {
    for (const retryable of [true, false]) {
      const error = new GatewayError(code, { message: "What is wrong.", retryable, details: { limit: 1 } });
      const reply = errorReply(error, context);
      const body = errorBody.parse(JSON.parse(reply.body)).error;
      assert.equal(reply.status, ERRORS[code].status);
      assert.deepEqual([body.code, body.type, body.retryable], [code, ERRORS[code].type, retryable]);
      assert.equal(reply.headers["x-should-retry"], String(retryable));
      assert.equal(reply.headers["retry-after"], retryable ? "2" : undefined);
      assert.equal(reply.headers["x-request-id"], context.requestId);
      assert.equal(reply.headers["cache-control"], "no-store");
      assert.equal(body.request_id, context.requestId);
      assert.equal(body.doc_url, `${PUBLIC_URL}/docs/errors#${code}`);
      const problem = errorReply(error, { ...context, accept: "application/problem+json" });
      assert.equal(problem.headers["content-type"], "application/problem+json; charset=utf-8");
      const parsed = problemBody.parse(JSON.parse(problem.body));
      assert.deepEqual([parsed.code, parsed.status, parsed.type], [code, reply.status, body.doc_url]);
    }
  });
}

test("errors.problem-json: the problem form comes only when Accept names it", () => {
  const error = new GatewayError("NOT_FOUND", { message: "Nothing." });
  const forms: Record<string, boolean> = {
    "application/problem+json": true,
    "Application/Problem+JSON;q=0.5, text/html": true,
    "application/json, application/problem+json": true,
    "application/problem+json;q=0": false,
    "application/json": false,
    "*/*": false,
    "application/problem+jsonx": false,
  };
  for (const [accept, isProblem] of Object.entries(forms)) {
    const type = errorReply(error, { ...context, accept }).headers["content-type"] ?? "";
    assert.equal(type.startsWith("application/problem+json"), isProblem, accept);
  }
});

test("errors.retry-after: Retry-After is whole seconds, rounded up", () => {
  const error = new GatewayError("RATE_LIMITED", { message: "Wait.", retryAfterSeconds: 0.2 });
  assert.equal(errorReply(error, context).headers["retry-after"], "1");
});

test("errors.internal-fixed, errors.no-leak: an unknown error is a fixed 500 with the request id; its text goes to the log only", async () => {
  const { app, logs } = testEdge({
    handle: async () => {
      throw new Error("password=hunter2");
    },
  });
  const reply = await askApp(app, {
    method: "POST",
    url: "/v1/transcription?token=canary",
    headers: { authorization: "Bearer good", "x-secret": "canary" },
    payload: "canary",
  });
  await app.close();
  const { error } = errorBody.parse(reply.json());
  assert.equal(reply.statusCode, 500);
  assert.equal(error.code, "INTERNAL");
  assert.doesNotMatch(reply.body, /hunter2|stack|Error:/);
  const fault = logs.find(({ level }) => level === 50);
  assert.equal(fault?.["request_id"], error.request_id);
  assert.match(JSON.stringify(fault), /hunter2/);
  // A log line holds the route's template, never the target, a header or the body.
  assert.doesNotMatch(JSON.stringify(logs), /canary|Bearer/);
});

test("logs.allow-list: the log of a request has exactly the allowed fields", async () => {
  const { app, logs } = testEdge();
  await askApp(app, { url: "/v1/transcription/jobs/job_secret?x=1", headers: { authorization: "Bearer good" } });
  await askApp(app, { url: "/v1/me" });
  await app.close();
  assert.deepEqual(
    logs.map((line) => Object.keys(line).toSorted()),
    logs.map(() => ["code", "level", "method", "ms", "request_id", "route", "status", "time"]),
  );
  assert.deepEqual(
    logs.map(({ route, status, code }) => ({ route, status, code })),
    [
      { route: "/v1/transcription/jobs/:job_id", status: 200, code: null },
      { route: "/v1/me", status: 401, code: "UNAUTHENTICATED" },
    ],
  );
  await app.close();
});
