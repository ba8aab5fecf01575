// A database that does not respond: an error is retryable only when nothing was dispatched.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { get, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";

const connectionRefused = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
/** Of the reservations to come, by their turn. */
let refused: readonly boolean[] = [];
let isDirectoryUnavailable = false;
let areQuotasUnavailable = false;
let isBurnUnavailable = false;
let gateway: TestGateway;

before(async () => {
  gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        routes: { speech: { may_pay_twice: true, targets: ["dg/nova-3", "oa/whisper-1"] } },
        apps: { notes: { key: KEY } },
      }),
    wrapGateway: (services) => ({
      ...services,
      directory: () => {
        if (isDirectoryUnavailable) throw connectionRefused();
        return services.directory();
      },
      quotas: {
        ...services.quotas,
        enter: async (holders) => {
          if (areQuotasUnavailable) throw connectionRefused();
          return services.quotas.enter(holders);
        },
      },
      idempotency: {
        ...services.idempotency,
        burn: async (slot) => {
          if (isBurnUnavailable) throw connectionRefused();
          return services.idempotency.burn(slot);
        },
      },
      ledger: {
        ...services.ledger,
        reserve: async (reservation) => {
          const [isRefused = false, ...rest] = refused;
          refused = rest;
          if (isRefused) throw connectionRefused();
          return services.ledger.reserve(reservation);
        },
      },
    }),
  });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
  isDirectoryUnavailable = false;
  areQuotasUnavailable = false;
  isBurnUnavailable = false;
});

test("transcription.database-unavailable, idempotency.outage-refusal: before anything is dispatched: 503 OVERLOADED, retryable, no provider called, and the key runs afterwards", async () => {
  refused = [true];
  const answer = await postForm(gateway.origin, { headers: { "idempotency-key": "before" } });
  assert.deepEqual([answer.status, answer.code, answer.headers.get("x-should-retry")], [503, "OVERLOADED", "true"]);
  assert.equal(answer.headers.get("retry-after"), "2");
  assert.equal(gateway.sandbox.calls.length, 0);
  assert.equal((await postForm(gateway.origin, { headers: { "idempotency-key": "before" } })).status, 200);
});

test("transcription.database-unavailable, idempotency.burn-unknown: after a call whose outcome is unknown: the outcome stays unknown, and the key is burned", async () => {
  refused = [false, true];
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "reset_after_body" } });
  const answer = await postForm(gateway.origin, { headers: { "idempotency-key": "between" } });
  assert.deepEqual(
    [answer.status, answer.code, answer.headers.get("x-should-retry")],
    [502, "PROVIDER_RESULT_UNKNOWN", "false"],
  );
  const again = await postForm(gateway.origin, { headers: { "idempotency-key": "between" } });
  assert.deepEqual([again.status, again.code], [409, "IDEMPOTENT_RESULT_UNAVAILABLE"]);
  assert.equal(gateway.sandbox.calls.length, 1);
});

test("transcription.database-unavailable: after a call whose outcome is unknown, though the key cannot be burned now: the caller gets that outcome, and the key does not run", async () => {
  refused = [false, true];
  isBurnUnavailable = true;
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "reset_after_body" } });
  const headers = { "idempotency-key": "burned-later" };
  const answer = await postForm(gateway.origin, { headers });
  assert.deepEqual([answer.status, answer.code], [502, "PROVIDER_RESULT_UNKNOWN"]);
  // Until its lease lapses, which burns it.
  assert.equal((await postForm(gateway.origin, { headers })).code, "IDEMPOTENCY_REPLAY_IN_PROGRESS");
  assert.equal(gateway.sandbox.calls.length, 1);
});

test("errors.database-unavailable: a read that cannot be answered is retryable, never an internal error", async () => {
  isDirectoryUnavailable = true;
  const answer = await get(gateway.origin, "/v1/me");
  assert.deepEqual([answer.status, answer.code, answer.headers.get("x-should-retry")], [503, "OVERLOADED", "true"]);
});

test("transcription.database-unavailable: a quota that cannot be counted lets nothing through: 503 OVERLOADED, retryable, and no provider called", async () => {
  areQuotasUnavailable = true;
  const answer = await postForm(gateway.origin);
  assert.deepEqual([answer.status, answer.code, answer.headers.get("x-should-retry")], [503, "OVERLOADED", "true"]);
  assert.equal(gateway.sandbox.calls.length, 0);
});
