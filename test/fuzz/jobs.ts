// The life of jobs compared with a model of it [jobs.states]: random submissions, polls, cancellations, claims, releases and ends, by
// workers that hold the job and by ones that lost it, on a real database.
import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { JobStatus } from "../../src/contract/jobs.ts";
import { endJob } from "../../src/jobs/end-job.ts";
import { deadlinePassed, jobErrorOf } from "../../src/jobs/job-error.ts";
import { openSettlement } from "../../src/jobs/run/settle-open.ts";
import { offerLapsed, purgeJobs, purgeObjects, sweepJobs } from "../../src/jobs/sweep.ts";
import { claimJob, releaseJob, renewJobLeases } from "../../src/jobs/store/claimed-jobs.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { cancel, list, poll, submit } from "../http/jobs/jobs.ts";
import { assertEvents, attemptsOf, jobsFile } from "../jobs/setting.ts";
import { wav } from "../sandbox/wav.ts";
import type { Fuzz } from "./fuzz.ts";

interface ModelJob {
  readonly id: string;
  status: JobStatus;
  attempt: number;
  cancelRequested: boolean;
  /** Its worker gave it back, or was never there. */
  isFree: boolean;
}

interface Model {
  readonly jobs: ModelJob[];
}

const SOUND = wav(0.2);
const isOver = ({ status }: ModelJob): boolean => !["queued", "processing"].includes(status);

/** One of the jobs there are; every command but the first needs one. */
class Step implements fc.AsyncCommand<Model, TestGateway> {
  readonly #name: string;
  readonly #which: number;
  readonly #act: (job: ModelJob, gateway: TestGateway) => Promise<void>;

  constructor(name: string, which: number, act: (job: ModelJob, gateway: TestGateway) => Promise<void>) {
    this.#name = name;
    this.#which = which;
    this.#act = act;
  }

  check(model: Readonly<Model>): boolean {
    return model.jobs.length > 0;
  }

  async run(model: Model, gateway: TestGateway): Promise<void> {
    const job = model.jobs[this.#which % model.jobs.length];
    assert.ok(job);
    await this.#act(job, gateway);
    const seen = await poll(gateway.origin, job.id);
    assert.deepEqual([seen.status, seen.cancel_requested], [job.status, job.cancelRequested], String(this));
    assert.equal(seen.finished_at !== null, isOver(job), String(this));
  }

  toString(): string {
    return `${this.#name} ${this.#which}`;
  }
}

const submission: fc.AsyncCommand<Model, TestGateway> = {
  check: () => true,
  run: async (model, { origin }) => {
    const { job_id: id } = await submit(origin, { file: SOUND });
    model.jobs.push({ id, status: "queued", attempt: 0, cancelRequested: false, isFree: true });
    assert.ok((await list(origin, "?limit=100")).data.some(({ job_id: listed }) => listed === id));
  },
  toString: () => "submit",
};

const cancelling = async (job: ModelJob, { origin }: TestGateway) => {
  await cancel(origin, job.id);
  if (job.status === "processing") job.cancelRequested = true;
  if (job.status === "queued") job.status = "cancelled";
};

const claiming = async (job: ModelJob, { database }: TestGateway) => {
  const row = await claimJob(database.db, job.id);
  const isOpen = job.status === "queued" || (job.status === "processing" && job.isFree);
  assert.equal(row !== null, isOpen, "claimed exactly when no worker holds it");
  if (!isOpen) return;
  job.status = "processing";
  job.attempt += 1;
  job.isFree = false;
  assert.equal(row?.attempt, job.attempt);
};

/** `age` attempts ago; 0 is the one that holds it. */
const handingBack =
  (age: number) =>
  async (job: ModelJob, { database }: TestGateway) => {
    await releaseJob(database.db, { id: job.id, attempt: job.attempt - age });
    if (age === 0 && job.status === "processing") job.isFree = true;
  };

const renewing =
  (age: number) =>
  async (job: ModelJob, { database }: TestGateway) => {
    const fence = { id: job.id, attempt: job.attempt - age };
    const held = await renewJobLeases(database.db, [fence]);
    assert.equal(
      held.length === 1,
      age === 0 && job.status === "processing" && !job.isFree,
      "renewed only by its holder",
    );
  };

const ending =
  (age: number, wished: "succeeded" | "failed") =>
  async (job: ModelJob, { app }: TestGateway) => {
    const hasEnded = await endJob(app.jobs, { id: job.id, attempt: job.attempt - age }, (locked) => ({
      status: locked.cancel_requested ? "cancelled" : wished,
      ...(wished === "failed" && !locked.cancel_requested ? { error: jobErrorOf(deadlinePassed(null)) } : {}),
      settlement: openSettlement(locked, "failed:cancelled"),
    }));
    assert.equal(hasEnded, age === 0 && job.status === "processing", "ended only by its holder");
    if (hasEnded) job.status = job.cancelRequested ? "cancelled" : wished;
  };

const sweeping = async (_job: ModelJob, { app }: TestGateway) => {
  await offerLapsed(app.jobs);
  await sweepJobs(app.jobs);
  await purgeObjects(app.jobs);
  await purgeJobs(app.jobs);
};

const which = fc.nat(4);
const age = fc.constantFrom(0, 0, 0, 1);
const step = (name: string, act: (job: ModelJob, gateway: TestGateway) => Promise<void>) =>
  which.map((at) => new Step(name, at, act));

const commands = fc.commands(
  [
    fc.constant(submission),
    step("poll", async () => undefined),
    step("cancel", cancelling),
    step("claim", claiming),
    step("claim", claiming),
    fc.tuple(which, age).map(([at, old]) => new Step(`hand back, ${old} late,`, at, handingBack(old))),
    fc.tuple(which, age).map(([at, old]) => new Step(`renew, ${old} late,`, at, renewing(old))),
    fc
      .tuple(which, age, fc.constantFrom("succeeded", "failed"))
      .map(([at, old, wished]) => new Step(`${wished}, ${old} late,`, at, ending(old, wished))),
    step("sweep", sweeping),
  ],
  { maxCommands: 25 },
);

export const jobs: Fuzz = {
  about: "jobs submitted, claimed, released, cancelled and ended at random, compared with a model",
  shortRuns: 6,
  open: async () => {
    const gateway = await startGateway({ file: jobsFile, works: false });
    return {
      property: fc.asyncProperty(commands, async (sequence) => {
        const model: Model = { jobs: [] };
        await fc.asyncModelRun(() => ({ model, real: gateway }), sequence);
        for (const job of model.jobs) {
          const states = (await attemptsOf(gateway.database, job.id)).map(({ state }) => state);
          assert.deepEqual(states, [isOver(job) ? "settled" : "open"], `${job.id} ${job.status}`);
        }
        await assertEvents(gateway.database);
      }) as fc.IAsyncProperty<unknown>,
      close: () => gateway.close(),
    };
  },
};
