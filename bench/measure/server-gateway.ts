// A gateway in this process on its own PostgreSQL server, both ended by its disposal.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox } from "../../sandbox/server.ts";
import { startGateway, type TestGateway, type TestGatewayOptions } from "../../test/harness/gateway.ts";
import { type OpenDatabase, openSystemDatabase } from "../../test/harness/postgres/database.ts";
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";

export interface ServerGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly database: OpenDatabase;
}

export async function openServerGateway(file: NonNullable<TestGatewayOptions["file"]>): Promise<ServerGateway> {
  await using opened = new AsyncDisposableStack();
  const postgres = await startPostgresServer();
  opened.defer(() => postgres.stop());
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-bench-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const database = await openSystemDatabase({ databaseUrl: postgres.url });
  opened.defer(() => database.close());
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const gateway = await startGateway({ file, existing: { dataDir, sandbox, database } });
  opened.defer(() => gateway.close());
  const owned = opened.move();
  return { gateway, database, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
