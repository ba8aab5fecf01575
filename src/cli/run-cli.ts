// Runs the command line: commands, help, and the mapping of every outcome to an exit code.
import { Command, CommanderError } from "commander";
import { examples, type Run } from "./command-kit.ts";
import { type Behind, commandsFor } from "./commands.ts";
import { EXIT, EXIT_CODE_HELP } from "./exit-codes.ts";
import { packageVersion } from "./package-root.ts";
import {
  CliError,
  inRed,
  printLine,
  withCommandName,
  type Terminal,
  stripControlCharacters,
  write,
} from "./terminal.ts";

export interface CliDependencies extends Behind {
  readonly env: Terminal["env"];
  readonly cwd?: string;
  readonly command?: Terminal["command"];
  readonly stdin?: Terminal["stdin"];
  readonly stdout?: Terminal["stdout"];
  readonly stderr?: Terminal["stderr"];
}

/** `argv` without the runtime and the script. Never throws; resolves with the exit code. */
export async function runCli(argv: readonly string[], dependencies: CliDependencies): Promise<number> {
  const terminal: Terminal = {
    stdin: dependencies.stdin ?? process.stdin,
    stdout: dependencies.stdout ?? process.stdout,
    stderr: dependencies.stderr ?? process.stderr,
    env: dependencies.env,
    cwd: dependencies.cwd ?? process.cwd(),
    command: dependencies.command,
  };
  const interrupt = new AbortController();
  const run: Run = {
    terminal,
    signal: interrupt.signal,
    interruptibly: (work) => interruptibly(terminal, interrupt, work),
    exitCode: EXIT.ok,
  };
  const pendingWrites: Promise<void>[] = [];
  // Failures to print a result are reported by `write`. Failures to print messages are ignored: a gateway keeps serving while the disk of its log is full.
  const ignore = () => undefined;
  terminal.stdout.on("error", ignore);
  terminal.stderr.on("error", ignore);
  try {
    const program = await buildProgram(argv, run, dependencies, pendingWrites);
    await program.parseAsync([...argv], { from: "user" });
    return run.exitCode;
  } catch (error) {
    return await reportFailure((await unprinted(error, pendingWrites)) ?? error, argv, run);
  } finally {
    await Promise.allSettled(pendingWrites);
    terminal.stdout.off("error", ignore);
    terminal.stderr.off("error", ignore);
  }
}

/** The error if help or the version, the only output requested, could not be printed. */
async function unprinted(thrown: unknown, pendingWrites: readonly Promise<void>[]): Promise<unknown> {
  if (!(thrown instanceof CommanderError) || thrown.exitCode !== 0) return null;
  const printed = await Promise.allSettled(pendingWrites);
  return printed.find((each) => each.status === "rejected")?.reason ?? null;
}

/** `pendingWrites`: writes of commander's own output, above all help, which may fail later. */
async function buildProgram(
  argv: readonly string[],
  run: Run,
  dependencies: CliDependencies,
  pendingWrites: Promise<void>[],
): Promise<Command> {
  const { terminal } = run;
  const program = new Command("patchbay")
    .description(
      "Gateway for speech-to-text and chat: one API key, policy-based routing, explicit refusals instead of degraded results.",
    )
    .version(packageVersion(), "--version", "Print the version.")
    .helpOption("-h, --help", "Print this help.")
    .helpCommand(true)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => pendingWrites.push(write(terminal.stdout, withCommandName(terminal, text))),
      writeErr: (text) =>
        pendingWrites.push(write(terminal.stderr, stripControlCharacters(withCommandName(terminal, text)))),
    })
    .addHelpText(
      "before",
      examples(
        "patchbay up",
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        'patchbay chat "Name three uses of a patch bay"',
        "patchbay jobs submit hearing.mp3 --wait",
        "patchbay listen --forward-to http://localhost:3000/hooks",
        "patchbay config validate",
        "patchbay doctor",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  for (const { load } of commandsFor(argv)) (await load())(program, run, dependencies);
  return program;
}

/** The first Ctrl-C stops the work and prints how to resume; the second ends the process at once. */
async function interruptibly(terminal: Terminal, interrupt: AbortController, work: () => Promise<void>): Promise<void> {
  const onInterrupt = () => {
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort(new CliError(EXIT.interrupted, "Interrupted."));
  };
  process.on("SIGINT", onInterrupt);
  try {
    await work();
  } catch (error) {
    // Whatever failed because of the abort, the interruption is the cause.
    throw interrupt.signal.aborted ? new CliError(EXIT.interrupted, "Interrupted.") : error;
  } finally {
    process.off("SIGINT", onInterrupt);
    // An unread stdin would keep the process alive.
    if (interrupt.signal.aborted) terminal.stdin.destroy();
  }
}

async function reportFailure(error: unknown, argv: readonly string[], run: Run): Promise<number> {
  const { terminal } = run;
  if (error instanceof CommanderError) {
    // Commander has already printed the message or the help; `--help` and `--version` are successes.
    if (error.exitCode === 0) return EXIT.ok;
    const message = error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /u, "");
    if (argv.includes("--json")) await printError(terminal, { error: { code: null, message } });
    return EXIT.usage;
  }
  const failure =
    error instanceof CliError
      ? error
      : new CliError(EXIT.unexpected, error instanceof Error ? error.message : "unknown");
  await write(
    terminal.stderr,
    `${inRed(terminal, "error")} ${stripControlCharacters(withCommandName(terminal, failure.message))}\n`,
  );
  for (const hint of failure.hints) await printLine(terminal, `  ${hint}`);
  if (argv.includes("--json")) await printError(terminal, failure.document);
  return failure.exitCode;
}

function printError(terminal: Terminal, document: unknown): Promise<void> {
  return write(terminal.stdout, `${JSON.stringify(document)}\n`);
}
