// One gateway for the tests of a file, each of which finds it quiet: no calls, no faults, no attempts, and an hour after the last,
// so that what earlier faults opened rests in the past.
import { after, beforeEach } from "node:test";
import { startGateway, type TestGateway, type TestGatewayOptions } from "./gateway.ts";

const HOUR_MS = 3_600_000;

export async function startQuietGateway(file: NonNullable<TestGatewayOptions["file"]>): Promise<TestGateway> {
  let aheadMs = 0;
  const gateway = await startGateway({ file, now: () => new Date(Date.now() + aheadMs) });
  after(() => gateway.close());
  beforeEach(async () => {
    gateway.sandbox.clearCalls();
    gateway.sandbox.clearFaults();
    aheadMs += HOUR_MS;
    await gateway.database.db.deleteFrom("attempts").execute();
  });
  return gateway;
}
