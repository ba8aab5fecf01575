// A worker that dies, and what its successor finds [jobs.resume]: work continues, nothing is paid twice, and a worker that was presumed dead
// changes nothing any more [jobs.fenced-writes].
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { type TestContext, test } from "node:test";
import { sql } from "kysely";
import type { SandboxCall } from "../../sandbox/calls.ts";
import type { ReportingCircuits } from "../../src/providers/health.ts";
import { endJob } from "../../src/jobs/end-job.ts";
import { createLeases } from "../../src/jobs/leases.ts";
import { runJob } from "../../src/jobs/run/run-job.ts";
import { JOB_QUEUES, JOBS_QUEUE } from "../../src/jobs/services.ts";
import { LOOK_FOR_LAPSED_MS, offerLapsed } from "../../src/jobs/sweep.ts";
import { createPeriodicTask } from "../../src/lib/concurrency/periodic-task.ts";
import { createQueue, type Queue } from "../../src/queue/queue.ts";
import {
  claimJob,
  writeCall,
  writeFailure,
  writeProgress,
  releaseJob,
  renewJobLeases,
} from "../../src/jobs/store/claimed-jobs.ts";
import { postForm } from "../harness/client.ts";
import { setClock, shiftClock, withSystemAccess } from "../harness/postgres/database.ts";
import { KEY, type TestGateway } from "../harness/gateway.ts";
import { HELD, releaseHeld } from "../harness/held.ts";
import { cancel, ended, JOBS, poll, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, paidCalls, pass, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker, leftWhilePolled } = await startIdleGateway();

/** As after kill -9: nothing was released, and the lease is still valid. */
async function kill(worker: TestGateway, id: string): Promise<void> {
  await worker.close();
  await sql`update jobs set lease_until = patchbay_now() + interval '30 seconds' where id = ${id}`.execute(
    gateway.database.db,
  );
}

test("jobs.resume, jobs.unknown-outcome: killed while a call is in flight, the job fails as unknown, is not charged and not sent again", async () => {
  const { sandbox, database, origin } = gateway;
  sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const first = await startWorker();
  const headers = { "idempotency-key": "crash-in-flight" };
  const { job_id: id } = await submit(origin, { headers });
  await sandbox.waitForCall((call) => call.wire === "deepgram");
  await kill(first, id);
  assert.equal((await poll(origin, id)).status, "processing");

  sandbox.clearFaults();
  const second = await startWorker();
  await pass(second, 31);
  const done = await ended(origin, id);
  assert.equal(done.status, "failed");
  assert.equal(done.error?.code, "PROVIDER_RESULT_UNKNOWN");
  assert.equal(done.attempts, 2);
  assert.equal(paidCalls(sandbox), 1);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
  const again = await postForm(origin, { path: JOBS, headers });
  assert.equal(again.headers.get("x-svc-idempotent-replay"), "true");
  assert.equal((again.json as { job_id: string }).job_id, id);
});

test("jobs.resume: killed while audio is uploaded to a polled provider, the job is submitted by its successor, as nothing was paid yet", async () => {
  const { sandbox, database, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", step: "upload", times: 1, fault: { kind: "stall" } });
  const first = await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ path, outcome }) => path.endsWith("/upload") && outcome === "stalled");
  await kill(first, id);
  assert.equal(paidCalls(sandbox), 0);

  const second = await startWorker();
  await pass(second, 31);
  const done = await ended(origin, id, REMOTE_KEY);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(done.attempts, 2);
  assert.equal(paidCalls(sandbox), 1);
  const attempts = await attemptsOf(database, id);
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ["succeeded"],
  );
});

test("jobs.resume, jobs.unknown-outcome: killed while the submission is in flight, the job fails as unknown and is not submitted again", async () => {
  const { sandbox, database, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", step: "submit", times: 1, fault: { kind: "stall" } });
  const first = await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ path, outcome }) => path.endsWith("/transcript") && outcome === "stalled");
  await kill(first, id);

  const second = await startWorker();
  await pass(second, 31);
  const done = await ended(origin, id, REMOTE_KEY);
  assert.equal(done.error?.code, "PROVIDER_RESULT_UNKNOWN");
  assert.equal(paidCalls(sandbox), 1);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "unknown", charge: "0" }]);
});

for (const [what, wire, damage] of [
  ["recording_missing", "deepgram", (key: string) => gateway.app.jobs.objects.remove(key)],
  ["recording_missing", "assemblyai", (key: string) => gateway.app.jobs.objects.remove(key)],
  ["recording_damaged", "deepgram", (key: string) => gateway.app.jobs.objects.put(key, zeros(1_000), 1_000)],
  ["recording_damaged", "deepgram", changeLastByte],
  ["recording_damaged", "assemblyai", changeLastByte],
] as const) {
  test(`jobs.recording-lost: a job whose recording the store lost ends as an internal error, uncharged, no provider blamed: ${what}, ${wire}`, async () => {
    const { sandbox, database, origin } = gateway;
    const key = wire === "deepgram" ? KEY : REMOTE_KEY;
    const { job_id: id } = await submit(origin, { key });
    await damage(`audio/${id}`);
    const worker = await startWorker();
    const done = await ended(origin, id, key);
    assert.deepEqual(
      [done.status, done.error?.code, done.error?.retryable, done.error?.details],
      ["failed", "INTERNAL", true, { reason: what }],
    );
    assert.ok(sandbox.calls.every(({ outcome }) => outcome !== 200));
    assert.deepEqual(
      (await attemptsOf(database, id)).map(({ charge }) => charge),
      ["0"],
    );
    const { circuits } = worker.app.gateway;
    assert.ok("report" in circuits);
    for (const { failures, consecutive } of (circuits as ReportingCircuits).report())
      assert.deepEqual([failures, consecutive], [0, 0]);
  });
}

type Opened = ReturnType<TestGateway["app"]["jobs"]["objects"]["open"]>;
const connectionRefused = (): Error => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
for (const [how, key, read] of [
  ["does not answer", KEY, () => Promise.reject(connectionRefused())],
  ["does not answer", REMOTE_KEY, () => Promise.reject(connectionRefused())],
  ["breaks off in the middle", KEY, brokenOff],
  ["breaks off in the middle", REMOTE_KEY, brokenOff],
] as const) {
  const provider = key === KEY ? "deepgram" : "assemblyai";
  test(`jobs.recording-unreadable: a store that ${how} for a while is waited for: the job succeeds, is sent whole once and paid once (${provider})`, async () => {
    const { sandbox, database, origin } = gateway;
    const { objects } = (await startWorker()).app.jobs;
    const open = objects.open.bind(objects);
    let left = 2;
    Object.assign(objects, { open: (name: string): Opened => (left-- > 0 ? read(open(name)) : open(name)) });
    const { job_id: id } = await submit(origin, { key });
    const done = await ended(origin, id, key);
    assert.deepEqual([done.status, done.attempts, left < 0], ["succeeded", 1, true], JSON.stringify(done.error));
    const isPaid = ({ method, path }: (typeof sandbox.calls)[number]) => method === "POST" && !path.endsWith("/upload");
    assert.equal(sandbox.calls.filter((call) => isPaid(call) && call.outcome === 200).length, 1);
    const attempts = await attemptsOf(database, id);
    assert.deepEqual(
      attempts.map(({ state, outcome }) => [state, outcome]),
      [["settled", "succeeded"]],
    );
    assert.notEqual(attempts[0]?.charge, "0");
  });
}

async function brokenOff(opened: Opened): Opened {
  const whole = await opened;
  return (async function* () {
    for await (const chunk of whole) {
      yield chunk.subarray(0, chunk.length >> 1);
      throw connectionRefused();
    }
  })();
}

test("jobs.recording-unreadable: a job that is cancelled while it waits for the store ends as cancelled, uncharged", async () => {
  const { sandbox, database, origin } = gateway;
  const worker = await startWorker();
  const failed = Promise.withResolvers<void>();
  Object.assign(worker.app.jobs.objects, {
    open: () => {
      failed.resolve();
      return Promise.reject(connectionRefused());
    },
  });
  const { job_id: id } = await submit(origin);
  await failed.promise;
  await cancel(origin, id);
  const done = await ended(origin, id);
  assert.deepEqual([done.status, done.usage], ["cancelled", null]);
  // Of jobs before this one a provider may be deleting now what it kept.
  assert.deepEqual(
    sandbox.calls.filter(({ method, outcome }) => method === "POST" && outcome === 200),
    [],
  );
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:cancelled", charge: "0" }]);
});

test("jobs.recording-unreadable, jobs.deadline: a store that is unavailable until the job's deadline ends the job as an internal error, uncharged", async () => {
  const { database, origin } = gateway;
  let aheadMs = 0;
  const now = (): Date => new Date(Date.now() + aheadMs);
  const worker = await startWorker({ now });
  Object.assign(worker.app.jobs.objects, {
    open: () => {
      aheadMs = 7 * 3_600_000;
      return Promise.reject(connectionRefused());
    },
  });
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.deepEqual([done.error?.code, done.error?.details], ["INTERNAL", { reason: "recording_unreadable" }]);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:not_called", charge: "0" }]);
});

test("jobs.cancel-processing: cancelled while audio is uploaded to a polled provider, the job is not submitted and not charged", async () => {
  const { sandbox, database, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", step: "upload", times: 1, fault: HELD });
  await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ path }) => path.endsWith("/upload"));
  await cancel(origin, id, REMOTE_KEY);
  await releaseHeld(sandbox);
  const done = await ended(origin, id, REMOTE_KEY);
  assert.deepEqual([done.status, done.usage], ["cancelled", null]);
  assert.equal(paidCalls(sandbox), 0);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:cancelled", charge: "0" }]);
});

test("jobs.resume: killed while a run is polled, the job's successor continues to poll and submits nothing", async () => {
  const { sandbox, database, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1 } });
  sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: { kind: "stall" } });
  const first = await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  await kill(first, id);

  const second = await startWorker();
  await pass(second, 31);
  const done = await ended(origin, id, REMOTE_KEY);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(done.attempts, 2);
  assert.equal(paidCalls(sandbox), 1);
  const attempts = await attemptsOf(database, id);
  assert.deepEqual(
    attempts.map(({ outcome }) => outcome),
    ["succeeded"],
  );
  assert.ok(BigInt(attempts[0]?.charge ?? 0) > 0n);
});

test("jobs.poll-interval: at least 1.6 s pass between two polls of a run, as a worker's own progress does not wake it", async () => {
  const { sandbox, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1 } });
  sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: HELD });
  await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  const isPoll = ({ method, path }: SandboxCall) => method === "GET" && path.includes("/transcript/");
  await sandbox.waitForCall(isPoll);
  // The first poll is answered after this moment, so that nothing of the pause is missed.
  const polledAtMs = performance.now();
  await releaseHeld(sandbox);
  assert.equal((await ended(origin, id, REMOTE_KEY)).status, "succeeded");
  assert.ok(performance.now() - polledAtMs > 1_500);
  assert.equal(sandbox.calls.filter(isPoll).length, 2);
});

test("jobs.graceful-stop: a worker that stops in order hands a run back at once, without waiting for its lease", async () => {
  const { sandbox, origin } = gateway;
  const id = await leftWhilePolled();
  await startWorker();
  const done = await ended(origin, id, REMOTE_KEY);
  assert.equal(done.status, "succeeded");
  assert.equal(paidCalls(sandbox), 1);
});

test("api.drain-close: what reaches a gateway that has begun to stop is served, and its connection closes", async () => {
  const stopping = await startWorker();
  stopping.app.startDraining();
  assert.equal((await fetch(`${stopping.origin}/readyz`)).status, 503);
  const served = await postForm(stopping.origin, { path: JOBS });
  assert.equal(served.status, 202, served.text);
  assert.equal(served.headers.get("connection"), "close");
  const { job_id: id } = served.json as { job_id: string };
  await startWorker();
  assert.equal((await ended(gateway.origin, id)).status, "succeeded");
});

test("jobs.graceful-stop: a worker whose grace is over releases the run that it polls, and its successor continues to poll at once", async () => {
  const { sandbox, origin } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 1 } });
  sandbox.addFault({ wire: "assemblyai", step: "poll", times: 1, fault: { kind: "stall" } });
  const first = await startWorker();
  const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
  await sandbox.waitForCall(({ method, outcome }) => method === "GET" && outcome === "stalled");
  await first.close();
  await startWorker();
  const done = await ended(origin, id, REMOTE_KEY);
  assert.deepEqual([done.status, done.attempts], ["succeeded", 2], JSON.stringify(done.error));
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.graceful-stop: a renewal that was in progress when the job was released does not hold it", async () => {
  const { database, origin } = gateway;
  const { job_id: id } = await submit(origin);
  assert.equal((await claimJob(database.db, id))?.attempt, 1);
  const fence = { id, attempt: 1 };
  assert.deepEqual(await renewJobLeases(database.db, [fence]), [fence]);
  await releaseJob(database.db, fence);
  await renewJobLeases(database.db, [fence]);
  await startWorker();
  const done = await ended(origin, id);
  assert.deepEqual([done.status, done.attempts], ["succeeded", 2]);
});

test("jobs.graceful-stop: a worker that stops in order finishes its call in flight", async () => {
  const { sandbox, origin } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: HELD });
  const first = await startWorker();
  const { job_id: id } = await submit(origin);
  await sandbox.waitForCall((call) => call.wire === "deepgram");
  const closing = first.app.close({ graceMs: 600_000 });
  await releaseHeld(sandbox);
  await closing;
  const done = await poll(origin, id);
  assert.equal(done.status, "succeeded");
  assert.equal(done.attempts, 1);
});

test("jobs.resume: killed before its call, the job is done by the next worker", async () => {
  const { sandbox, database, origin } = gateway;
  const { job_id: id } = await submit(origin);
  assert.notEqual(await claimJob(database.db, id), null);
  assert.equal(await claimJob(database.db, id), null, "one worker at a time");
  const worker = await startWorker();
  await pass(worker, 31);
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(done.attempts, 2);
  assert.equal(paidCalls(sandbox), 1);
});

test("jobs.fenced-writes: an attempt that was presumed dead changes nothing, whatever it writes", async () => {
  const { database, origin } = gateway;
  const { job_id: id } = await submit(origin);
  const stale = await claimJob(database.db, id);
  assert.ok(stale !== null);
  await shiftClock(database, 31);
  const current = await claimJob(database.db, id);
  assert.equal(current?.attempt, 2);
  await assertFenced(id, stale.attempt);
  // Nor once the job has ended.
  await releaseJob(database.db, { id, attempt: 2 });
  const worker = await startWorker();
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  // Until it is closed it still removes the audio.
  await worker.close();
  await assertFenced(id, stale.attempt);
  await assertFenced(id, 3);
});

test("jobs.attempts-exhausted: a job that no attempt ends fails as ATTEMPTS_EXHAUSTED", async () => {
  const { sandbox, database, origin } = gateway;
  const { job_id: id } = await submit(origin);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    assert.equal((await claimJob(database.db, id))?.attempt, attempt);
    await releaseJob(database.db, { id, attempt });
  }
  await startWorker();
  const done = await ended(origin, id);
  assert.equal(done.error?.code, "ATTEMPTS_EXHAUSTED");
  assert.equal(paidCalls(sandbox), 0);
  assert.deepEqual(await attemptsOf(database, id), [{ state: "settled", outcome: "failed:not_called", charge: "0" }]);
});

/** The bound of [jobs.dead-worker], without the poll that each of the two messages would need if its notification were lost. */
const TAKEN_OVER_WITHIN_MS = 45_000 - 2 * 2_000;

for (const lateMs of [1, 1_000]) {
  test(`jobs.dead-worker: R4, a dead worker's job is with another within 45 s, although its first successor died too; lapsed ${lateMs} ms after a sweep`, async (t) => {
    const { database, origin, app } = gateway;
    const epochMs = Date.now();
    const at = (ms: number) => setClock(database, new Date(epochMs + ms).toISOString());
    await at(0);
    const { job_id: id } = await submit(origin);
    // The first dies with the job, the second with its message, the third takes it over.
    const comers = await startComers(t, id, (comer) => comer !== 2);
    await comers.until(1);

    const sends = { count: 0 };
    const counting: Pick<Queue, "send"> = {
      send: async (...message) => {
        await app.jobs.queue.send(...message);
        sends.count += 1;
      },
    };
    let look = Promise.resolve();
    t.mock.timers.enable({ apis: ["setInterval"] });
    const looking = createPeriodicTask(LOOK_FOR_LAPSED_MS, app.gateway.logger, "offer jobs again", () => {
      look = offerLapsed({ database, queue: { ...app.jobs.queue, ...counting } });
      return look;
    });
    let nowMs = 30_000 - lateMs - LOOK_FOR_LAPSED_MS;
    while (sends.count < 2) {
      nowMs += LOOK_FOR_LAPSED_MS;
      await at(nowMs);
      t.mock.timers.tick(LOOK_FOR_LAPSED_MS);
      await look;
      await comers.until(1 + sends.count);
    }
    await looking.stop();
    t.mock.timers.reset();
    assert.equal((await poll(origin, id)).attempts, 2);
    assert.ok(nowMs <= TAKEN_OVER_WITHIN_MS, `taken over after ${nowMs} ms`);
  });
}

test("jobs.database-outage: a worker that claims a job while the database is unavailable for a moment has it when it is available again", async (t) => {
  const { database, origin, app, sandbox } = gateway;
  const { job_id: id } = await submit(origin);
  let refusals = 3;
  const db = new Proxy(database.db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        refusals -= 1;
        if (refusals >= 0) throw connectionRefused();
        return Reflect.apply(value, target, args);
      };
    },
  });
  const leases = createLeases({ database, onError: assert.ifError });
  t.after(() => leases.close());
  const going = new AbortController().signal;
  await runJob({ ...app.jobs, database: withSystemAccess(database, { db }), leases, stopping: going }, id, going);
  assert.ok(refusals < 0);
  const done = await poll(origin, id);
  assert.deepEqual([done.status, done.attempts, paidCalls(sandbox)], ["succeeded", 1, 1]);
});

test("jobs.dead-worker: a running gateway looks for lapsed leases by itself", async (t) => {
  const { job_id: id } = await submit(gateway.origin);
  const comers = await startComers(t, id, (comer) => comer === 1);
  await comers.until(1);
  await shiftClock(gateway.database, 31);
  t.mock.timers.enable({ apis: ["setInterval"] });
  await startWorker({ works: false });
  t.mock.timers.tick(LOOK_FOR_LAPSED_MS);
  t.mock.timers.reset();
  await comers.until(2);
});

async function assertFenced(id: string, attempt: number): Promise<void> {
  const { database, app } = gateway;
  const fence = { id, attempt };
  const read = () => database.db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirst();
  const before = await read();
  assert.equal(await writeProgress(database.db, fence, { stage: "storing", fraction: 1 }), null);
  const call = { attemptId: "att_stale", position: 1, state: "submitting" } as const;
  assert.equal(await writeCall(database.db, fence, call), false);
  assert.equal(await database.transaction((tx) => writeFailure(tx, fence, { kind: "connect" })), false);
  await releaseJob(database.db, fence);
  const end = {
    status: "succeeded",
    stored: { result: Buffer.from("stale"), resultKey: null },
    settlement: null,
  } as const;
  assert.equal(await endJob(app.jobs, fence, () => end), false);
  assert.deepEqual(await read(), before);
}

/** Of the same length as what was submitted. */
async function changeLastByte(key: string): Promise<void> {
  const { objects } = gateway.app.jobs;
  const bytes = Buffer.concat(await Array.fromAsync(await objects.open(key)));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  await objects.put(
    key,
    (async function* () {
      yield bytes;
    })(),
    bytes.length,
  );
}

async function* zeros(sizeBytes: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(sizeBytes);
}

interface Comers {
  readonly until: (count: number) => Promise<void>;
}

/** Workers that come for a job and die at once: those that `claim`, with the job, the others with no more than its message. */
async function startComers(t: TestContext, id: string, claim: (comer: number) => boolean): Promise<Comers> {
  const { database } = gateway;
  const queue = createQueue({ database, queues: JOB_QUEUES, onError: () => undefined });
  await queue.start();
  t.after(() => queue.stop());
  const events = new EventEmitter();
  const comers = { begun: 0, come: 0 };
  queue.work(JOBS_QUEUE, {
    concurrency: 8,
    handler: async ({ data, signal }) => {
      if ((data as { job_id: string }).job_id !== id) return;
      comers.begun += 1;
      if (claim(comers.begun)) assert.notEqual(await claimJob(database.db, id), null);
      comers.come += 1;
      events.emit("come");
      await once(signal, "abort");
    },
  });
  return {
    until: async (count) => {
      while (comers.come < count) await once(events, "come");
    },
  };
}
