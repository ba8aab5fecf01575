// Quotas over several processes (docs/decisions/0015): none is exceeded, nothing is stranded, little is written.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import type { SlotVerdict, Limit, Verdict } from "../../src/quotas/counters.ts";
import { createSharedCounters, type SharedCounters } from "../../src/quotas/shared-counters.ts";
import {
  makeTenant,
  openTestDatabase,
  shiftClock,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";

let database: TestDatabase;
let workspaceId: WorkspaceId;
before(async () => {
  database = await openTestDatabase();
  ({ workspaceId } = await makeTenant(database));
});
after(() => database.close());

const MINUTE_MS = 60_000;
const SPLITS = [
  [1, 1, 1],
  [98, 1, 1],
  [60, 30, 10],
  [1, 0, 0],
] as const;

for (const split of SPLITS) {
  test(`quotas.exact: a quota of 100 lets exactly 100 of 300 through over three processes, split ${split.join(":")}`, async () => {
    await using processes = await startProcesses(3);
    const limit = requests(100);
    const turns = spread(300, split);
    const verdicts = await Promise.all(turns.map(async (turn) => processes.at(turn).take([limit], 1)));
    assert.equal(verdicts.filter((verdict) => verdict.ok).length, 100);
    for (const verdict of verdicts) if (!verdict.ok) assert(verdict.waitMs > 50_000 && verdict.waitMs <= MINUTE_MS);
  });

  test(`quotas.accuracy: one after the other, a quota of 200 lets 200 ± 2 % of 400 through, split ${split.join(":")}`, async () => {
    await using processes = await startProcesses(3);
    const limit = requests(200);
    let passed = 0;
    for (const turn of spread(400, split)) {
      const verdict = await processes.at(turn).take([limit], 1);
      if (verdict.ok) passed += 1;
      // As the clock would have it that a test does not wait for.
      processes.pass(20);
    }
    assert(passed >= 196 && passed <= 200, `${passed}`);
  });
}

test("quotas.smaller-applies: the smaller of key and app applies, and what one refused is not lost to the other", async () => {
  await using processes = await startProcesses(2);
  const app = requests(10);
  const narrow = requests(4);
  const wide = requests(100);
  const first = await all(10, () => processes.at(0).take([narrow, app], 1));
  assert.equal(passedOf(first), 4);
  const second = await all(20, () => processes.at(1).take([wide, app], 1));
  await processes.seconds(3);
  const third = await all(20, () => processes.at(1).take([wide, app], 1));
  assert.equal(passedOf(second) + passedOf(third), 6);
});

test("quotas.dry-run: a dry run is judged by what all processes have taken, and counts nothing", async () => {
  await using processes = await startProcesses(2);
  const limit = requests(10);
  const judge = async (amount: number) => (await processes.at(1).judge([limit], amount)).ok;
  assert.deepEqual([await judge(10), await judge(11)], [true, false]);
  assert((await processes.at(0).take([limit], 4)).ok);
  assert.deepEqual([await judge(6), await judge(7)], [true, false]);
  for (let turn = 0; turn < 3; turn += 1) assert(await judge(6));
  assert((await processes.at(0).take([limit], 6)).ok);
  const refused = await processes.at(1).judge([requests(10), limit], 1);
  assert(!refused.ok && refused.limit === limit && refused.waitMs > 0);
});

test("quotas.units: seconds of audio and tokens are counted like requests, whatever their amounts", async () => {
  await using processes = await startProcesses(3);
  const audio: Limit = { ...requests(1_000_000), unit: "audio", periodMs: 3_600_000 };
  let sum = 0;
  for (let turn = 0; turn < 300; turn += 1) {
    const amount = 1_000 + ((turn * 7_919) % 9_000);
    const verdict = await processes.at(turn % 3).take([audio], amount);
    if (verdict.ok) sum += amount;
    processes.pass(20);
  }
  assert(sum <= 1_000_000 && sum >= 980_000, `${sum}`);
});

test("quotas.token-correction: tokens used beyond the estimate count on every process, unused ones are free again", async () => {
  await using processes = await startProcesses(2);
  const tokens: Limit = { ...requests(1_000), unit: "tokens" };
  assert((await processes.at(0).take([tokens], 100)).ok);
  processes.at(0).correct([tokens], 700);
  await processes.quiet();
  assert(!(await processes.at(1).take([tokens], 201)).ok);
  assert((await processes.at(1).take([tokens], 200)).ok);
  processes.at(1).correct([tokens], -150);
  await processes.seconds(3);
  assert((await processes.at(0).take([tokens], 150)).ok);
  assert(!(await processes.at(0).take([tokens], 1)).ok);
});

test("quotas.few-queries: under steady load a process asks the database seldom, and rarely makes a request wait for it", async () => {
  await using processes = await startProcesses(1);
  const limit = requests(60_000);
  let waited = 0;
  for (let count = 0; count < 2_000; count += 1) {
    const verdict = processes.at(0).take([limit], 1);
    let isPending = true;
    void verdict.finally(() => {
      isPending = false;
    });
    // After every promise that waits for nothing else.
    await new Promise<void>((done) => process.nextTick(done));
    if (isPending) waited += 1;
    assert((await verdict).ok);
    processes.pass(2);
    if (count % 500 === 499) await processes.seconds(1);
    // So that what was drawn in the background can arrive, as it does between requests that come over a socket.
    if (count % 10 === 9) await processes.quiet();
  }
  assert(processes.transactions < 100, `${processes.transactions} transactions`);
  assert(waited < 20, `${waited} waited`);
});

test("quotas.flood-bounded: a flood of refused requests asks the database at most ten times a second", async () => {
  await using processes = await startProcesses(1);
  const limit = requests(5);
  for (let count = 0; count < 5; count += 1) assert((await processes.at(0).take([limit], 1)).ok);
  const before = processes.transactions;
  for (let count = 0; count < 1_000; count += 1) {
    assert(!(await processes.at(0).take([limit], 1)).ok);
    processes.pass(1);
  }
  assert(processes.transactions - before <= 11, `${processes.transactions - before} transactions`);
});

test("quotas.unused-returned: what a process took and does not use is available to another within three seconds", async () => {
  await using processes = await startProcesses(2);
  const limit = requests(1_000);
  await all(200, () => processes.at(0).take([limit], 1));
  await all(10, () => processes.at(0).take([limit], 1));
  await processes.seconds(3);
  const rest = await all(1_000, () => processes.at(1).take([limit], 1));
  assert.equal(passedOf(rest), 790);
});

test("quotas.sliding-window: what left the window is free again, by the database's clock", async () => {
  await using processes = await startProcesses(2);
  const limit = requests(10);
  assert.equal(passedOf(await all(20, (turn) => processes.at(turn % 2).take([limit], 1))), 10);
  try {
    await shiftClock(database, 61);
    processes.pass(61_000);
    assert.equal(passedOf(await all(20, (turn) => processes.at(turn % 2).take([limit], 1))), 10);
  } finally {
    await shiftClock(database, 0);
  }
});

test("quotas.concurrent-places: of 60 concurrent requests over three processes 20 are let in, and as many again when those have ended", async () => {
  await using processes = await startProcesses(3);
  const limit = places(20);
  const first = await all(60, (turn) => processes.at(turn % 3).enter([limit]));
  assert.equal(passedOf(first), 20);
  leaveAll(first);
  await processes.seconds(2);
  const onOne = await all(60, () => processes.at(2).enter([limit]));
  assert.equal(passedOf(onOne), 20);
  leaveAll(onOne);
});

test("quotas.concurrent-reuse: a place that falls free serves the next request of this process without a query", async () => {
  await using processes = await startProcesses(1);
  const limit = places(2);
  leaveAll([await processes.at(0).enter([limit])]);
  const before = processes.transactions;
  for (let count = 0; count < 50; count += 1) leaveAll([await processes.at(0).enter([limit])]);
  assert.equal(processes.transactions, before);
});

test("quotas.concurrent-crash: the places of a process that died are free within 45 s, those of one that lives are not", async () => {
  await using processes = await startProcesses(3);
  const limit = places(10);
  assert.equal(passedOf(await all(4, () => processes.at(0).enter([limit]))), 4);
  assert.equal(passedOf(await all(6, () => processes.at(1).enter([limit]))), 6);
  assert.equal(passedOf(await all(1, () => processes.at(2).enter([limit]))), 0);
  try {
    // The first is dead: only the second says that it lives.
    await shiftClock(database, 20);
    processes.at(1).renew();
    await processes.quiet();
    await shiftClock(database, 45);
    processes.pass(45_000);
    assert.equal(passedOf(await all(10, () => processes.at(2).enter([limit]))), 4);
  } finally {
    await shiftClock(database, 0);
  }
});

test("quotas.orderly-shutdown: a process that stops in order returns at once what it does not use", async () => {
  await using processes = await startProcesses(2);
  const [requestLimit, placeLimit] = [requests(1_000), places(5)];
  await all(300, () => processes.at(0).take([requestLimit], 1));
  leaveAll(await all(5, () => processes.at(0).enter([placeLimit])));
  await processes.at(0).close();
  assert.equal(passedOf(await all(900, () => processes.at(1).take([requestLimit], 1))), 700);
  assert.equal(passedOf(await all(5, () => processes.at(1).enter([placeLimit]))), 5);
});

test("quotas.holder-isolation: a holder whose workspace was removed fails alone, not those counted in the same transaction", async () => {
  await using processes = await startProcesses(1);
  const gone = { ...requests(5), workspaceId: brand("workspace", newId("workspace")) };
  const limit = requests(5);
  const [bad, good] = await Promise.allSettled([processes.at(0).take([gone], 1), processes.at(0).take([limit], 1)]);
  assert.equal(bad?.status, "rejected");
  assert.deepEqual(good, { status: "fulfilled", value: { ok: true } });
});

function requests(limit: number): Limit {
  return { workspaceId, holderId: newId("key"), unit: "requests", limit, periodMs: MINUTE_MS };
}

function places(limit: number): Limit {
  return { workspaceId, holderId: newId("app"), unit: "concurrent", limit, periodMs: 0 };
}

interface Processes extends AsyncDisposable {
  at(index: number): SharedCounters;
  /** For their own clocks; the database's is unchanged. */
  pass(ms: number): void;
  /** What each does once a second. */
  seconds(count: number): Promise<void>;
  quiet(): Promise<void>;
  readonly transactions: number;
}

async function startProcesses(count: number): Promise<Processes> {
  let elapsedMs = 0;
  let transactions = 0;
  const opened = new AsyncDisposableStack();
  const counters: SharedCounters[] = [];
  for (let index = 0; index < count; index += 1) {
    const own = await database.openSecond();
    opened.defer(() => own.close());
    const counted = withSystemAccess(own, {
      transaction: (work) => {
        transactions += 1;
        return own.transaction(work);
      },
    });
    const made = createSharedCounters({ database: counted, elapsedMs: () => elapsedMs });
    opened.defer(() => made.close());
    counters.push(made);
  }
  const quiet = async (): Promise<void> => {
    for (const each of counters) await each.quiet();
  };
  return {
    at: (index) => counters[index] ?? assert.fail(`no process ${index}`),
    pass: (ms) => {
      elapsedMs += ms;
    },
    seconds: async (seconds) => {
      for (let second = 0; second < seconds; second += 1) {
        elapsedMs += 1_000;
        for (const each of counters) each.look();
        await quiet();
      }
    },
    quiet,
    get transactions() {
      return transactions;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function all<T>(count: number, ask: (turn: number) => T | Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, async (_, turn) => ask(turn)));
}

function passedOf(verdicts: readonly (Verdict | SlotVerdict)[]): number {
  return verdicts.filter((verdict) => verdict.ok).length;
}

function leaveAll(entered: readonly SlotVerdict[]): void {
  for (const each of entered) if (each.ok) each.leave();
}

/** Each process's turns, spread evenly. */
function spread(count: number, split: readonly number[]): readonly number[] {
  const sum = split.reduce((total, part) => total + part, 0);
  const given = split.map(() => 0);
  return Array.from({ length: count }, (_, turn) => {
    const behind = split.map((part, index) => (part / sum) * (turn + 1) - (given[index] ?? 0));
    const next = behind.indexOf(Math.max(...behind));
    given[next] = (given[next] ?? 0) + 1;
    return next;
  });
}
