// Records the examples of the OpenAPI documents again: sends every request of `test/api-examples` to a gateway with simulated providers, on its own PostgreSQL
// server.
import { createRecorder } from "../test/api-examples/recorder.ts";
import { runScenario } from "../test/api-examples/scenario.ts";
import { stableExamples } from "../test/api-examples/stable.ts";
import { openWorld } from "../test/api-examples/world.ts";
import { startPostgresServer } from "../test/harness/postgres/postgres-server.ts";
import { writeExamples } from "./api-examples.ts";

const server = await startPostgresServer({ commits: "lost" });
process.env["DATABASE_URL"] = server.url;
try {
  const world = await openWorld();
  const startedAt = new Date();
  const recorder = createRecorder(world.gateway);
  await runScenario(world, recorder);
  writeExamples(stableExamples(recorder.recorded, world.gateway, startedAt));
  console.log(`recorded ${recorder.recorded.size} operations`);
  await world.close();
} finally {
  await server.stop();
}
