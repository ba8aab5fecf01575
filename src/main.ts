#!/usr/bin/env node
// Process start: hands the environment to the command line and the exit code back to the shell.
import { runCli } from "./cli/run-cli.ts";
import { up } from "./up.ts";

process.exitCode = await runCli(process.argv.slice(2), { up, env: process.env });
