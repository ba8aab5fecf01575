#!/usr/bin/env node
// Process start: passes the environment to the command line and its exit code to the shell.
import { EXIT } from "./cli/exit-codes.ts";
import { proxySettings } from "./config/proxy-settings.ts";
import { ownCommand } from "./cli/invocation.ts";
import { PROCESS_NUMBER } from "./cli/process-number.ts";
import { runCli } from "./cli/run-cli.ts";
import { isForegroundScript, untilOrphaned } from "./start/npm-shell.ts";
import { makeOperations } from "./operations/operations.ts";
import { upInProcesses } from "./start/processes.ts";

// Started by the launcher: if the launcher is killed, a gateway would keep its port and data directory with no process left to stop it.
if (process.channel !== undefined) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}

// A launcher, if present, watches its shell itself.
const isOfNpm = process.channel === undefined && isForegroundScript(process.env["npm_lifecycle_script"]);
const orphaned = isOfNpm ? untilOrphaned(process.ppid) : null;

/** A gateway or worker ends in order. Any other command ends as if it had the signal that npm's shell does not pass on. */
let endsInOrder = false;
const endOrphaned = (): boolean => endsInOrder || process.kill(process.pid, "SIGTERM");
void orphaned?.then(endOrphaned);

const number = process.env[PROCESS_NUMBER];
const processNumber = number === undefined ? null : Number(number);

// Loaded on demand, so that a client command does not wait for the gateway's modules.
process.exitCode = await runCli(process.argv.slice(2), {
  up: (options) => {
    endsInOrder = true;
    return upInProcesses(options, processNumber, orphaned);
  },
  work: async (options) => {
    endsInOrder = true;
    return (await import("./start/work.ts")).work(options, orphaned);
  },
  operations: makeOperations(
    async (configuration) => (await import("./compose/outbound.ts")).openDoctorNetwork(configuration),
    {
      openDownloads: async (env) => (await import("./compose/outbound.ts")).openDownloads(proxySettings(env)),
      tryModel: async (model) => (await import("./providers/local/try-model.ts")).tryModel(model),
      verifyBundled: async (signal) => (await import("./operations/models/verify-bundled.ts")).verifyBundled(signal),
    },
  ),
  env: process.env,
  command: ownCommand({ env: process.env, cwd: process.cwd() }),
});
// A start that failed half way has open handles that keep the process alive: it would neither serve nor exit, and never be restarted.
if (process.exitCode !== EXIT.ok) process.exit();
