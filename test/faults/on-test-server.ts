// Provides a test server for trials whose gateway runs in this process: that of DATABASE_URL, else one started for the trial.
import { startPostgresServer } from "../harness/postgres/postgres-server.ts";
import type { FaultOptions, Trials } from "./fault.ts";

type Run = (options: FaultOptions) => Promise<Trials>;

export function onTestServer(run: Run): Run {
  return async (options) => {
    if ((process.env["DATABASE_URL"] ?? "") !== "") return run(options);
    const server = await startPostgresServer({ commits: "kept" });
    // Where the harness reads it.
    process.env["DATABASE_URL"] = server.url;
    try {
      return await run(options);
    } finally {
      delete process.env["DATABASE_URL"];
      await server.stop();
    }
  };
}
