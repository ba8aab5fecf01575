#!/usr/bin/env node
// Process start: hands the environment to the command line and the exit code back to the shell.
import { EXIT } from "./cli/exit-codes.ts";
import { ownCommand } from "./cli/invocation.ts";
import { runCli } from "./cli/run-cli.ts";
import { isForegroundScript, untilOrphaned } from "./npm-shell.ts";
import { makeOperations } from "./operations/operations.ts";
import { PROCESS_NUMBER, upInProcesses } from "./processes.ts";

// Behind the launcher: a gateway whose launcher was killed would keep its port and data directory with nobody to stop it.
if (process.channel !== undefined) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}

// Where there is a launcher, that one looks after its shell.
const isOfNpm = process.channel === undefined && isForegroundScript(process.env["npm_lifecycle_script"]);
const orphaned = isOfNpm ? untilOrphaned(process.ppid) : null;

const number = process.env[PROCESS_NUMBER];
const processNumber = number === undefined ? null : Number(number);

// Whoever asks a gateway something does not wait until one is loaded.
process.exitCode = await runCli(process.argv.slice(2), {
  up: (options) => upInProcesses(options, processNumber, orphaned),
  work: async (options) => (await import("./work.ts")).work(options, orphaned),
  operations: makeOperations(async (configuration) =>
    (await import("./open-outbound.ts")).openDoctorNetwork(configuration),
  ),
  env: process.env,
  command: ownCommand({ env: process.env, cwd: process.cwd() }),
});
// A start that failed half way has opened what keeps a process: it would neither serve nor end, and nobody would start another.
if (process.exitCode !== EXIT.ok) process.exit();
