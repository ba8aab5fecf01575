// `npm run oracle`: runs the official clients and generated ones against the sandbox and the gateway, and the examples with such a client, on their own
// PostgreSQL server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { COMPILED } from "../test/harness/compile-cache.ts";
import { startFlags } from "../test/harness/node-flags.ts";
import { startPostgresServer } from "../test/harness/postgres/postgres-server.ts";

const EXAMPLES = ["test/examples/openai-sdk.test.ts", "test/guides/snippets.test.ts"];

process.chdir(join(import.meta.dirname, ".."));
const server = await startPostgresServer({ commits: "lost" });
try {
  const files = [...globSync("test/sdk-oracle/*.test.ts"), ...EXAMPLES];
  // Each file is a process, which loads what the others and `npm test` have compiled.
  const child = spawn(process.execPath, [...startFlags(), "--test", ...files], {
    stdio: "inherit",
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, DATABASE_URL: server.url },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await server.stop();
}
