// A process that pulls one model, for tests that kill it: `node pull-process.ts SPEC.json DIR HOST`. It prints one line a step of progress.
import { readFileSync } from "node:fs";
import { pullModel } from "../../src/local-models/pull-model.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { TLS } from "../outbound/loopback.ts";

const [specFile = "", dir = "", host = "", ca = "given"] = process.argv.slice(2);
const outbound = createOutbound({
  connect: { servername: TLS.host, ...(ca === "given" ? { ca: TLS.ca } : {}) },
});
try {
  const { wasInstalled } = await pullModel(
    JSON.parse(readFileSync(specFile, "utf8")) as ModelSpec,
    { dir, fetch: "on_request", outbound, hosts: [host], retryDelaysMs: [] },
    {
      signal: new AbortController().signal,
      onProgress: ({ phase, bytes }) => void process.stdout.write(`${phase} ${bytes}\n`),
    },
  );
  process.stdout.write(wasInstalled ? "was installed\n" : "installed\n");
} catch (error) {
  process.stdout.write(`failed ${error instanceof Error ? error.message : ""}\n`);
  process.exitCode = 1;
} finally {
  await outbound.destroy();
}
