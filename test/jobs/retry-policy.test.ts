// Writes that must not be lost while the database is unavailable for a moment [jobs.database-outage].
import assert from "node:assert/strict";
import { test } from "node:test";
import { retryUntilDeadline } from "../../src/jobs/run/retry-policy.ts";
import { isServerUnavailable } from "../../src/storage/database-faults.ts";

const coded = (code: string, message = "x"): Error => Object.assign(new Error(message), { code });
const UNAVAILABLE = [
  coded("ECONNREFUSED"),
  coded("ECONNRESET"),
  coded("57P01", "terminating connection due to administrator command"),
  coded("57P03", "the database system is starting up"),
  coded("25P03", "terminating connection due to idle-in-transaction timeout"),
  new Error("Connection terminated unexpectedly"),
  new Error("timeout exceeded when trying to connect"),
  new Error("Client has encountered a connection error and is not queryable"),
];
const soon = () => ({
  signal: new AbortController().signal,
  deadlineAt: new Date(Date.now() + 60_000),
  now: () => new Date(),
});

test("jobs.database-outage: a write is repeated until the database is available again, and its answer is returned", async () => {
  let tries = 0;
  const answer = await retryUntilDeadline(soon(), async () => {
    tries += 1;
    if (tries <= 2) throw UNAVAILABLE[tries];
    return "stored";
  });
  assert.deepEqual([answer, tries], ["stored", 3]);
});

test("jobs.database-outage, storage.fault-table: an unavailable server is distinguished from a wrong statement", () => {
  for (const error of UNAVAILABLE) assert.equal(isServerUnavailable(error), true, String(error));
  for (const error of [coded("23505"), coded("42P01"), coded("40001"), coded("ENOENT"), new Error("x"), null])
    assert.equal(isServerUnavailable(error), false, String(error));
});

test("jobs.database-outage: an error that a retry cannot fix is thrown at once", async () => {
  let tries = 0;
  const write = async () => {
    tries += 1;
    throw coded("23505");
  };
  await assert.rejects(retryUntilDeadline(soon(), write), { code: "23505" });
  assert.equal(tries, 1);
});

test("jobs.database-outage: a job that was lost, or whose time is over, is not retried", async () => {
  const lost = new AbortController();
  const write = async () => {
    lost.abort();
    throw coded("ECONNREFUSED");
  };
  await assert.rejects(retryUntilDeadline({ ...soon(), signal: lost.signal }, write), { code: "ECONNREFUSED" });
  const never = async () => {
    throw coded("ECONNREFUSED");
  };
  await assert.rejects(retryUntilDeadline({ ...soon(), deadlineAt: new Date(Date.now() - 1) }, never), {
    code: "ECONNREFUSED",
  });
});
