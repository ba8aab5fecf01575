// Runs the command line: commands, help, and the mapping of every outcome to an exit code.
import { Command, CommanderError } from "commander";
import { helpFooter, type Run } from "./command-kit.ts";
import { groupOf } from "./command-names.ts";
import { type Behind, commandsFor } from "./commands.ts";
import { EXIT } from "./exit-codes.ts";
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
  const program = createProgram(terminal, pendingWrites);
  try {
    for (const { load } of commandsFor(argv)) (await load())(program, run, dependencies);
    for (const command of program.commands) command.helpGroup(groupOf(command.name()));
    await program.parseAsync([...argv], { from: "user" });
    return run.exitCode;
  } catch (error) {
    return await reportFailure((await unprinted(error, pendingWrites)) ?? error, { argv, run, program });
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
function createProgram(terminal: Terminal, pendingWrites: Promise<void>[]): Command {
  return new Command("patchbay")
    .description(
      "Gateway for speech-to-text and chat: one API key, policy-based routing, explicit refusals instead of degraded results.",
    )
    .version(packageVersion(), "--version", "Print the version.")
    .helpOption("-h, --help", "Print this help.")
    .commandsGroup(groupOf("help"))
    .helpCommand(true)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => pendingWrites.push(write(terminal.stdout, withCommandName(terminal, text))),
      writeErr: (text) =>
        pendingWrites.push(write(terminal.stderr, stripControlCharacters(withCommandName(terminal, text)))),
      // Commander's own errors are reported as all others.
      outputError: () => undefined,
    })
    .addHelpText(
      "after",
      helpFooter(
        "patchbay up",
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        'patchbay chat "Name three uses of a patch bay"',
        "patchbay jobs submit hearing.mp3 --wait",
        "patchbay listen --forward-to http://localhost:3000/hooks",
        "patchbay config validate",
        "patchbay doctor",
      ),
    );
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

interface Invocation {
  readonly argv: readonly string[];
  readonly run: Run;
  readonly program: Command;
}

/** Every error has one form: what happened, then what to do, one line each [cli.errors]. */
async function reportFailure(error: unknown, { argv, run, program }: Invocation): Promise<number> {
  const { terminal } = run;
  // Commander has already printed the help or the version, which are successes.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
  const failure = failureOf(error);
  const see = failure.exitCode === EXIT.usage && failure.hints.length === 0;
  const hints = see || error instanceof CommanderError ? [...failure.hints, helpHint(program, argv)] : failure.hints;
  await write(
    terminal.stderr,
    `${inRed(terminal, "error")} ${stripControlCharacters(withCommandName(terminal, failure.message))}\n`,
  );
  for (const hint of hints) await printLine(terminal, `  ${hint}`);
  if (argv.includes("--json")) await printError(terminal, failure.document);
  return failure.exitCode;
}

function failureOf(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof CommanderError) return usageError(error);
  return new CliError(EXIT.unexpected, error instanceof Error ? error.message : "unknown");
}

/** `error: unknown option '--prot'`, and in a second line `(Did you mean --port?)`. */
function usageError({ code, message }: CommanderError): CliError {
  if (code === "commander.help") return new CliError(EXIT.usage, "A command is missing.");
  const [text = "", ...suggestions] = message.replace(/^error: /u, "").split("\n");
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
  const questions = suggestions.map((line) => line.replaceAll(/^\(|\)$/gu, ""));
  return new CliError(EXIT.usage, sentence, {
    hints: questions.map((line) => line.replace(/^Did/u, "did")),
    document: { error: { code: null, message: [sentence, ...questions].join(" ") } },
  });
}

function helpHint(program: Command, argv: readonly string[]): string {
  let command = program;
  const names: string[] = [];
  for (const word of argv) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) break;
    command = next;
    names.push(next.name());
  }
  return `see: ${["patchbay", ...names, "--help"].join(" ")}`;
}

function printError(terminal: Terminal, document: unknown): Promise<void> {
  return write(terminal.stdout, `${JSON.stringify(document)}\n`);
}
