// One PostgreSQL server for a benchmark, with any number of empty databases.
import { Client } from "pg";
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";

export interface Databases extends AsyncDisposable {
  /** Of the server process, which is the cost of all its databases. */
  readonly pid: number;
  create(): Promise<string>;
}

export async function startDatabases(): Promise<Databases> {
  const server = await startPostgresServer({ commits: "kept" });
  let databaseCount = 0;
  return {
    pid: server.pid,
    create: async () => {
      databaseCount += 1;
      const name = `bench_${databaseCount}`;
      const client = new Client({ connectionString: server.url });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
