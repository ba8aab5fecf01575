// Provokes the errors that need more than a request: a provider that holds its answer, a database that is unavailable, a process that stops, and jobs that
// never end.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type ErrorBody, errorBody } from "../../src/contract/error-body.ts";
import type { JobError, JobOnlyErrorCode } from "../../src/contract/jobs.ts";
import { claimJob, releaseJob } from "../../src/jobs/store/claimed-jobs.ts";
import { postForm } from "../harness/client.ts";
import { startGateway, type TestGateway, type TestGatewayOptions } from "../harness/gateway.ts";
import { HELD, releaseHeld } from "../harness/held.ts";
import { fakeTimers, json, open, post, startEdge } from "../http/edge/harness.ts";
import { ended, poll, submit } from "../http/jobs/jobs.ts";
import { jobsFile, pass } from "../jobs/setting.ts";

/** Sends `second` while the provider holds its answer to `first`. */
export async function whileHeld<Answer>(
  { sandbox }: Pick<TestGateway, "sandbox">,
  first: () => Promise<unknown>,
  second: () => Promise<Answer>,
): Promise<Answer> {
  sandbox.clearCalls();
  sandbox.addFault({ fault: HELD });
  const running = first();
  await sandbox.waitForCall(() => true);
  const answer = await second();
  await releaseHeld(sandbox);
  await running;
  return answer;
}

/** What the next reservation meets. */
export interface NextReservation {
  readonly wrapGateway: NonNullable<TestGatewayOptions["wrapGateway"]>;
  readonly failWith: (error: Error) => void;
}

export function failingReservations(): NextReservation {
  let next: Error | null = null;
  return {
    failWith: (error) => {
      next = error;
    },
    wrapGateway: (services) => ({
      ...services,
      ledger: {
        ...services.ledger,
        reserve: async (reservation) => {
          const error = next;
          next = null;
          if (error !== null) throw error;
          return services.ledger.reserve(reservation);
        },
      },
    }),
  };
}

/** A process that begins to close as this request arrives. */
export async function askClosing(
  existing: TestGateway,
  file: NonNullable<TestGatewayOptions["file"]>,
  key: string,
): Promise<ErrorBody> {
  const closing = await startGateway({ file, existing });
  const closed = new Promise<void>((resolve) => {
    closing.app.server.server.prependOnceListener("request", () => resolve(closing.close()));
  });
  const answer = await postForm(closing.origin, { key });
  await closed;
  return errorBody.parse(answer.json);
}

/** The gateway's HTTP server alone, whose clock the test moves on. */
export async function sendSlowly(t: TestContext): Promise<ErrorBody> {
  const timers = fakeTimers();
  const started = Promise.withResolvers<void>();
  const { port } = await startEdge(t, {
    schedule: timers.schedule,
    limits: { lingerMs: 50 },
    handle: async ({ request }) => {
      for await (const chunk of request.raw) if (chunk !== null) started.resolve();
      return json({});
    },
  });
  const { socket, replies } = await open(port);
  socket.write(post("Content-Length: 30000000\r\n", "x".repeat(1_000)));
  await started.promise;
  timers.fire();
  timers.fire();
  const [reply] = await replies(1);
  return errorBody.parse(JSON.parse(reply?.body ?? ""));
}

type JobProvocation = (gateway: TestGateway) => Promise<JobError | null>;

/** Each on a gateway that accepts jobs and works on none. */
const JOB_PROVOCATIONS: Readonly<Record<JobOnlyErrorCode, JobProvocation>> = {
  JOB_DEADLINE_EXCEEDED: async (gateway) => {
    const { job_id: id } = await submit(gateway.origin);
    await pass(gateway, 21_601);
    return (await poll(gateway.origin, id)).error;
  },
  ATTEMPTS_EXHAUSTED: async (gateway) => {
    const { job_id: id } = await submit(gateway.origin);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      assert.equal((await claimJob(gateway.database.db, id))?.attempt, attempt);
      await releaseJob(gateway.database.db, { id, attempt });
    }
    const worker = await startGateway({ file: jobsFile, existing: gateway });
    const { error } = await ended(gateway.origin, id);
    await worker.close();
    return error;
  },
};

export async function provokeJobError(t: TestContext, code: JobOnlyErrorCode): Promise<JobError | null> {
  const gateway = await startGateway({ file: jobsFile, works: false });
  t.after(() => gateway.close());
  return JOB_PROVOCATIONS[code](gateway);
}
