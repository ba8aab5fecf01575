// Every error of the database is judged by one table: unavailable, conflict, bad data or bug.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DatabaseFault,
  databaseFaultOf,
  isDatabaseUnavailable,
  isServerUnavailable,
} from "../../src/storage/database-faults.ts";
import { isRolledBack, tagRolledBack } from "../../src/storage/transact.ts";

const CODES: Readonly<Record<DatabaseFault, readonly string[]>> = {
  unavailable: words(`
    08000 08001 08003 08004 08006 08P01 25006 25P03 25P04 28000 28P01 3D000 40003 53000 53100 53200 53300 53400 55006 55P03
    57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01
    ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN
    ERR_STREAM_DESTROYED ERR_SOCKET_CLOSED`),
  conflict: words("40001 40P01"),
  bad_data: words("22003 22P02 23502 23503 23505 23514"),
  bug: words("25P02 26000 34000 42501 42601 42703 42P01 0A000 XX000 XX001 ENOENT EACCES"),
};

const MESSAGES = [
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout exceeded when trying to connect",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "Query read timeout",
  "Cannot use a pool after calling end on the pool",
  "The server does not support SSL connections",
];

const coded = (code: string): Error => Object.assign(new Error("x"), { code });

test("storage.fault-table: each SQLSTATE and each code of a socket is judged, and what is not listed is a bug", () => {
  for (const [fault, codes] of Object.entries(CODES))
    for (const code of codes) assert.equal(databaseFaultOf(coded(code)), fault, code);
  for (const other of [null, undefined, "57P01", 57, new Error("x"), new TypeError("57P01")])
    assert.equal(databaseFaultOf(other), "bug");
});

test("storage.fault-table: the driver's errors without a code are judged by their words", () => {
  for (const message of MESSAGES) assert.equal(databaseFaultOf(new Error(message)), "unavailable", message);
});

test("storage.fault-table: a name that resolves to several addresses, none of which answers, is unavailable", () => {
  // A server that is starting has no socket yet; any other missing file is no fault of a server.
  assert.equal(databaseFaultOf(Object.assign(coded("ENOENT"), { syscall: "connect" })), "unavailable");
  const each = [coded("ECONNREFUSED"), coded("ECONNREFUSED")];
  assert.equal(databaseFaultOf(Object.assign(new AggregateError(each), { code: "ECONNREFUSED" })), "unavailable");
});

test("storage.fault-table, storage.rolled-back: a conflict that outlived its repetitions is a retryable refusal, and certainly rolled back wherever it came", async () => {
  for (const code of CODES.conflict) {
    const conflict = coded(code);
    assert.deepEqual([isDatabaseUnavailable(conflict), isServerUnavailable(conflict)], [true, false]);
    const atCommit = tagRolledBack(
      async (work) => {
        await work(null as never);
        throw conflict;
      },
      async () => undefined,
    );
    await assert.rejects(atCommit, conflict);
    assert.equal(isRolledBack(conflict), true, code);
  }
});

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/u);
}
