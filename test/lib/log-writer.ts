// A process that logs more than a pipe and its own memory hold, and says on the other channel that it lives on.
import { logDestination } from "../../src/lib/log-destination.ts";
import { createLogger } from "../../src/lib/logger.ts";

const LINES = 40_000;
const logger = createLogger(logDestination(1));
for (let line = 0; line < LINES; line += 1) logger.info({ request_id: "r".repeat(200), status: line });
// A turn of the loop later: a write that blocked would have kept it from coming.
setImmediate(() => process.stderr.write(`alive after ${LINES}\n`));
