// A process that logs more than a pipe and its own memory hold, and reports on the other channel that it is alive; on `end`, it then ends its
// log; on `exit`, itself.
import { setImmediate } from "node:timers/promises";
import { logDestination } from "../../src/lib/log-destination.ts";
import { createLogger } from "../../src/lib/logger.ts";

const LINES = 40_000;
const destination = logDestination(1);
const logger = createLogger(destination);
for (let line = 0; line < LINES; line += 1) logger.info({ request_id: "r".repeat(200), status: line });
// A turn of the loop later: a write that blocked would have kept it from coming.
await setImmediate();
process.stderr.write(`alive after ${LINES}\n`);
if (process.argv[2] === "exit") process.exit(7);
await destination.end(process.argv[2] === "end" ? 200 : 60_000);
