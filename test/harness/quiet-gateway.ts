// One gateway for the tests of a file. Each starts without calls, faults or attempts, one hour later than the previous one, so that circuits opened by earlier
// faults have expired.
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
