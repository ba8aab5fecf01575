// A process that starts the embedded server in a data directory: prints its URL when it is ready, stops it when standard input ends.
import { startEmbeddedServer } from "../../../src/storage/embedded/server.ts";

const [dataDir = "", postgresBin = ""] = process.argv.slice(2);
const server = await startEmbeddedServer({
  dataDir,
  postgresBin: postgresBin === "" ? null : postgresBin,
  runAs: null,
  path: process.env["PATH"],
  onRestart: (delayMs) => process.stdout.write(`${JSON.stringify({ restartInMs: delayMs })}\n`),
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.resume();
process.stdin.once("end", () => void server.stop());
