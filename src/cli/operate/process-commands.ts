// Declares `patchbay up` and `patchbay worker`, which start the processes of an installation: their options and help.
import { type Command, InvalidArgumentError, Option } from "commander";
import { configOption, helpFooter, type Run } from "../command-kit.ts";
import { EXIT } from "../exit-codes.ts";
import { PROCESS_NUMBER } from "../process-number.ts";
import { acceptOption, type ModelOperations } from "./models-commands.ts";

export interface UpOptions {
  /** From `--config`. Null: search as `loadConfiguration` does. */
  readonly config: string | null;
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Replaces `server.admin.port`; with several processes, the port of the first one. */
  readonly adminPort: number | undefined;
  /** Number of gateways that share one port and one database. */
  readonly processes: number;
  /** Allows an empty database although the data directory has parts of another installation. */
  readonly newDatabase: boolean;
}

export interface WorkerOptions extends Pick<UpOptions, "config"> {
  /** Port of the monitoring listener, replaces `server.admin.port`. */
  readonly adminPort: number | undefined;
}

/** Each runs until it is stopped, and resolves with the exit code. */
export interface Processes {
  readonly up: (options: UpOptions) => Promise<number>;
  /** Starts a process that only works on jobs. */
  readonly work: (options: WorkerOptions) => Promise<number>;
}

const MOST_PROCESSES = 64;

interface UpFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: number;
  readonly adminPort?: number;
  readonly processes: number;
  readonly newDatabase?: boolean;
  readonly pull?: boolean;
  readonly acceptLicence?: boolean;
}

interface UpDependencies extends Pick<Processes, "up"> {
  readonly operations: { readonly models: Pick<ModelOperations, "pull"> };
}

export function addUp(program: Command, run: Run, { up, operations }: UpDependencies): void {
  program
    .command("up")
    .description("Start the gateway.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay up",
        "patchbay up --config /etc/patchbay/patchbay.yaml",
        "patchbay up --port 9000 --admin-port 9001",
        "patchbay up --processes 4",
        "patchbay up --pull",
      ),
    )
    .addOption(configOption())
    .addOption(new Option("--host <host>", "Address to listen on; overrides the file."))
    .addOption(new Option("--port <port>", "Port to listen on; overrides the file.").argParser(parsePort))
    .addOption(
      new Option("--admin-port <port>", "Port of the admin listener; overrides the file.").argParser(parsePort),
    )
    .addOption(
      new Option(
        "--processes <n>",
        "Number of gateway processes that share the port and database, at most one per core.",
      )
        .argParser(parseProcesses)
        .default(1),
    )
    .addOption(
      new Option(
        "--new-database",
        "Create an empty embedded database even if the data directory contains secrets or objects of another one.",
      ),
    )
    .option(
      "--pull",
      "Download the default speech model first, as `patchbay models pull` does, unless it is installed.",
    )
    .addOption(acceptOption())
    .action(async (options: UpFlags) => {
      const { config = null, host, port, adminPort, processes, newDatabase = false } = options;
      if (options.pull === true && run.terminal.env[PROCESS_NUMBER] === undefined)
        await pullDefault(options, run, operations);
      if (run.exitCode !== EXIT.ok) return;
      run.exitCode = await up({ config, host, port, adminPort, processes, newDatabase });
    });
}

/** [cli.up-pull]: without the model nothing is started, because the route would fall back to simulated text. */
async function pullDefault(
  { config, acceptLicence = false }: UpFlags,
  run: Run,
  { models }: UpDependencies["operations"],
): Promise<void> {
  const options = { ...(config === undefined ? {} : { config }), acceptLicence };
  // The output of `up` is the log.
  const terminal = { ...run.terminal, stdout: run.terminal.stderr };
  await run.interruptibly(async () => {
    run.exitCode = await models.pull([], options, terminal, run.signal);
  });
}

export function addWorker(program: Command, run: Run, { work }: Pick<Processes, "work">): void {
  program
    .command("worker")
    .description("Start a job worker next to gateways on the same PostgreSQL server.")
    .addHelpText("after", helpFooter("patchbay worker", "patchbay worker --config patchbay.yaml --admin-port 8091"))
    .addOption(configOption())
    .addOption(
      new Option(
        "--admin-port <port>",
        "Port for /metrics, /healthz and /readyz (default: server.admin.port, if it is free).",
      ).argParser(parsePort),
    )
    .action(async ({ config, adminPort }: { config?: string; adminPort?: number }) => {
      run.exitCode = await work({ config: config ?? null, adminPort });
    });
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
