// The command line: what exists, its help, and how every outcome becomes an exit code.
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { configOption, examples, jsonOption, type Run } from "./command-kit.ts";
import { RESPONSE_FORMATS } from "../contract/transcription.ts";
import { type ConfigOptions, printConfiguration, printSchema, validateConfiguration } from "./config-command.ts";
import { EXIT, EXIT_CODE_HELP } from "./exit-codes.ts";
import { DEFAULT_URL } from "./gateway-url.ts";
import { listen, type ListenOptions } from "./listen.ts";
import { packageVersion } from "./package-root.ts";
import { addOperations, type Operations } from "./operations-commands.ts";
import { addRequests } from "./requests-commands.ts";
import { CliError, red, say, type Terminal, visible, write } from "./terminal.ts";
import { transcribe, type TranscribeOptions } from "./transcribe.ts";
import { addFieldOptions } from "./transcription-options.ts";

export interface UpOptions {
  /** What `--config` named; null: search as `loadConfiguration` does. */
  readonly config: string | null;
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** How many gateways beside each other; more than one needs a PostgreSQL server. */
  readonly processes: number;
}

export interface WorkerOptions extends Pick<UpOptions, "config"> {
  /** Where to listen for whoever watches, in the place of `server.admin.port`. */
  readonly adminPort: number | undefined;
}

const MOST_PROCESSES = 64;

export interface CliDependencies {
  /** Runs the gateway until it is stopped; resolves with the exit code. */
  readonly up: (options: UpOptions) => Promise<number>;
  /** The same for a process that only works on jobs. */
  readonly work: (options: WorkerOptions) => Promise<number>;
  readonly operations: Operations;
  readonly env: Terminal["env"];
  readonly cwd?: string;
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
  };
  const interrupt = new AbortController();
  const run: Run = { terminal, signal: interrupt.signal, exitCode: EXIT.ok };
  const program = buildProgram(run, dependencies, interrupt);
  // A reader that goes away early (`| head`) is not a failure; without a listener it would be one.
  const ignoreBrokenPipe = (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") throw error;
  };
  terminal.stdout.on("error", ignoreBrokenPipe);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return run.exitCode;
  } catch (error) {
    return await reportFailure(error, argv, run);
  } finally {
    terminal.stdout.off("error", ignoreBrokenPipe);
  }
}

function buildProgram(run: Run, { up, work, operations }: CliDependencies, interrupt: AbortController): Command {
  const { terminal } = run;
  const program = new Command("patchbay")
    .description("A gateway for speech-to-text and chat: one key, routed, refused rather than degraded.")
    .version(packageVersion(), "--version", "Print the version.")
    .helpOption("-h, --help", "Print this help.")
    .helpCommand(true)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(visible(text)),
    })
    .addHelpText(
      "before",
      examples(
        "patchbay up",
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        "patchbay listen --forward-to http://localhost:3000/hooks",
        "patchbay config validate",
        "patchbay doctor",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  addUp(program, run, up);
  addWorker(program, run, work);
  addTranscribe(program, run, interrupt);
  addListen(program, run, interrupt);
  addRequests(program, run, (work) => interruptibly(run.terminal, interrupt, work));
  addConfig(program, run);
  addOperations(program, run, operations);
  return program;
}

function addUp(program: Command, run: Run, up: CliDependencies["up"]): void {
  program
    .command("up")
    .description("Start the gateway.")
    .addHelpText(
      "before",
      examples(
        "patchbay up",
        "patchbay up --config /etc/patchbay/patchbay.yaml",
        "patchbay up --port 9000",
        "patchbay up --processes 4",
      ),
    )
    .addOption(configOption())
    .addOption(new Option("--host <host>", "Address to listen on; wins over the file."))
    .addOption(new Option("--port <port>", "Port to listen on; wins over the file.").argParser(parsePort))
    .addOption(
      new Option("--processes <n>", "Gateways beside each other on one PostgreSQL, at most one for each core.")
        .argParser(parseProcesses)
        .default(1),
    )
    .action(async (options: { config?: string; host?: string; port?: number; processes: number }) => {
      const { config = null, host, port, processes } = options;
      run.exitCode = await up({ config, host, port, processes });
    });
}

function addWorker(program: Command, run: Run, work: CliDependencies["work"]): void {
  program
    .command("worker")
    .description("Work on jobs beside gateways on the same PostgreSQL.")
    .addHelpText("before", examples("patchbay worker", "patchbay worker --config patchbay.yaml --admin-port 8091"))
    .addOption(configOption())
    .addOption(
      new Option(
        "--admin-port <port>",
        "Port for /metrics, /healthz and /readyz (default: server.admin.port, if nobody else has it).",
      ).argParser(parsePort),
    )
    .action(async ({ config, adminPort }: { config?: string; adminPort?: number }) => {
      run.exitCode = await work({ config: config ?? null, adminPort });
    });
}

function addTranscribe(program: Command, run: Run, interrupt: AbortController): void {
  const command = program
    .command("transcribe")
    .description("Turn audio into text by a running gateway.")
    .argument("[file]", "Audio file, an https:// URL, or `-` for stdin.")
    .addHelpText(
      "before",
      examples(
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        "patchbay transcribe call.mp3 --keyterm Patchbay --keyterm diarization --json",
        "ffmpeg -i talk.mov -f wav - | patchbay transcribe -",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`)
    .addOption(new Option("--sample", "Transcribe the bundled sample, a short dialogue."))
    .addOption(new Option("--json", "Print the whole answer: exactly one JSON document on stdout."))
    .addOption(new Option("--format <format>", "Print the result in this format.").choices(RESPONSE_FORMATS))
    .addOption(new Option("-o, --output <file>", "Write the result to a file instead of stdout."))
    .addOption(new Option("--url <url>", `Address of the gateway (PATCHBAY_URL; default ${DEFAULT_URL}).`))
    .addOption(
      new Option("--api-key <key>", "API key (PATCHBAY_API_KEY; default: the one a gateway started here saved)."),
    )
    .addOption(new Option("--idempotency-key <key>", "Key that makes sending again safe; made afresh when not given."));
  addFieldOptions(command).action(async (file: string | undefined, options: TranscribeOptions) => {
    await interruptibly(run.terminal, interrupt, () => transcribe(file, options, run.terminal, run.signal));
  });
}

function addListen(program: Command, run: Run, interrupt: AbortController): void {
  program
    .command("listen")
    .description("Hand a workspace's webhook events to a receiver on this machine, as they happen.")
    .addHelpText(
      "before",
      examples(
        "patchbay listen --forward-to http://localhost:3000/hooks",
        "patchbay listen --forward-to localhost:3000 --workspace acme --api-key $ADMIN_KEY",
      ),
    )
    .addOption(new Option("--forward-to <url>", "The receiver.").makeOptionMandatory())
    .addOption(new Option("--workspace <workspace>", "Slug or id of the workspace; not given: the key's own."))
    .addOption(new Option("--json", "Print each delivery as a line of JSON."))
    .addOption(new Option("--url <url>", `Address of the gateway (PATCHBAY_URL; default ${DEFAULT_URL}).`))
    .addOption(
      new Option(
        "--api-key <key>",
        "Key of an administrator (PATCHBAY_API_KEY; default: the operator's that a gateway started here saved).",
      ),
    )
    .action(async (options: ListenOptions) => {
      await interruptibly(run.terminal, interrupt, () => listen(options, run.terminal, run.signal));
    });
}

function addConfig(program: Command, run: Run): void {
  const config = program
    .command("config")
    .description("Check, show or describe the configuration.")
    .addHelpText(
      "before",
      examples(
        "patchbay config validate",
        "patchbay config print --config patchbay.yaml",
        "patchbay config schema > patchbay.schema.json",
      ),
    );
  config
    .command("validate")
    .description("Report all faults of the configuration; exit code 9 if there are any.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: ConfigOptions) => validateConfiguration(options, run.terminal));
  config
    .command("print")
    .description("Print the configuration as it counts: defaults filled in, secrets masked.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: ConfigOptions) => printConfiguration(options, run.terminal));
  config
    .command("schema")
    .description("Print the JSON Schema of the file, for editors.")
    .action(() => printSchema(run.terminal));
}

/** Ctrl-C once stops the work and says how to go on; twice ends the process there and then. */
async function interruptibly(terminal: Terminal, interrupt: AbortController, work: () => Promise<void>): Promise<void> {
  const onInterrupt = () => {
    if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
    interrupt.abort(new CliError(EXIT.interrupted, "Interrupted."));
  };
  process.on("SIGINT", onInterrupt);
  try {
    await work();
  } catch (error) {
    // Whatever the abort made fail, the interruption is the reason.
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
    // Commander has printed the message or the help already; `--help` and `--version` are no failures.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  const failure =
    error instanceof CliError
      ? error
      : new CliError(EXIT.unexpected, error instanceof Error ? error.message : "unknown");
  await write(terminal.stderr, `${red(terminal, "error")} ${visible(failure.message)}\n`);
  for (const hint of failure.hints) await say(terminal, `  ${hint}`);
  if (argv.includes("--json")) await write(terminal.stdout, `${JSON.stringify(failure.document)}\n`);
  return failure.exitCode;
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("It must be a port from 0 to 65535.");
  return Number(text);
}

function parseProcesses(text: string): number {
  const processes = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (processes < 1 || processes > MOST_PROCESSES)
    throw new InvalidArgumentError(`It must be a number from 1 to ${MOST_PROCESSES}.`);
  return processes;
}
