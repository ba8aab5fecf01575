// One PostgreSQL server for a benchmark, with as many empty databases as it asks for.
import { Client } from "pg";
import { startPostgresServer } from "../test/harness/postgres-server.ts";

export interface Databases extends AsyncDisposable {
  /** Of the server: what all its databases cost. */
  readonly pid: number;
  create(): Promise<string>;
}

export async function startDatabases(): Promise<Databases> {
  const server = await startPostgresServer({ commits: "kept" });
  let made = 0;
  return {
    pid: server.pid,
    create: async () => {
      made += 1;
      const name = `bench_${made}`;
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
