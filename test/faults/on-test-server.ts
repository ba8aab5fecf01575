// Trials whose gateway runs in this process use databases of a test server: the one of DATABASE_URL, else one that is started for the trial.
import { startPostgresServer } from "../harness/postgres-server.ts";
import type { FaultOptions, Trials } from "./fault.ts";

type Run = (options: FaultOptions) => Promise<Trials>;

export function onTestServer(run: Run): Run {
  return async (options) => {
    if ((process.env["DATABASE_URL"] ?? "") !== "") return run(options);
    const server = await startPostgresServer({ commits: "kept" });
    // Where the harness looks for it.
    process.env["DATABASE_URL"] = server.url;
    try {
      return await run(options);
    } finally {
      delete process.env["DATABASE_URL"];
      await server.stop();
    }
  };
}
