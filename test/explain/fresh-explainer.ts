// A process of its own that knows nothing but a data directory, and runs one command line after the other: what each prints.
import { text } from "node:stream/consumers";
import { run } from "../cli/fake-gateway.ts";

const commands = JSON.parse(await text(process.stdin)) as readonly (readonly string[])[];
for (const command of commands) {
  const { exitCode, stdout, stderr } = await run(command, { cwd: process.cwd() });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${exitCode} ${stderr}`);
  process.stdout.write(stdout);
}
