// One gateway for the tests of a file, which accepts jobs and works on none: what is shared outlives the workers that use it. After each
// test its workers are gone, the clock is right again, and every job that ended has its one event.
import { after, afterEach } from "node:test";
import { shiftClock } from "../harness/postgres/database.ts";
import { startGateway, type TestGateway, type TestGatewayOptions } from "../harness/gateway.ts";
import { submit } from "../http/jobs/jobs.ts";
import { assertEvents, jobsFile, REMOTE_KEY } from "./setting.ts";

export interface IdleGateway {
  readonly gateway: TestGateway;
  /** Of the same file unless given another. */
  readonly startWorker: (options?: TestGatewayOptions) => Promise<TestGateway>;
  /** A job of the polled provider: its run continues there, and its worker has released it and stopped. */
  readonly leftWhilePolled: () => Promise<string>;
}

export async function startIdleGateway(file: NonNullable<TestGatewayOptions["file"]> = jobsFile): Promise<IdleGateway> {
  const gateway = await startGateway({ file, works: false });
  const workers: TestGateway[] = [];
  after(() => gateway.close());
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.close();
    gateway.sandbox.clearFaults();
    gateway.sandbox.clearCalls();
    await shiftClock(gateway.database, 0);
    await assertEvents(gateway.database);
  });
  const startWorker: IdleGateway["startWorker"] = async (options) => {
    const worker = await startGateway({ file, existing: gateway, ...options });
    workers.push(worker);
    return worker;
  };
  return {
    gateway,
    startWorker,
    async leftWhilePolled() {
      const { origin, sandbox } = gateway;
      sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 2 } });
      const first = await startWorker();
      const { job_id: id } = await submit(origin, { key: REMOTE_KEY });
      await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
      first.app.startDraining();
      await first.app.close({ graceMs: 60_000 });
      return id;
    },
  };
}
