// `patchbay console|doctor|down|backup|restore|migrate-storage|apply|audit|secrets|route`: operator commands on an installation on this machine, most of them
// without a call to a gateway.
import { type Command, Option } from "commander";
import { configOption, helpFooter, jsonOption, type Run, yesOption } from "../command-kit.ts";
import { DEFAULT_ADMIN_URL } from "../gateway-url.ts";
import { addRoute, type ExplainRoute } from "../inspect/route-commands.ts";
import type { ModelOperations } from "./models-commands.ts";
import type { VerifyTranscript } from "./verify-transcript-command.ts";
import type { Terminal } from "../terminal.ts";
import type { AlertOperations } from "./alerts-commands.ts";

interface Common {
  readonly config?: string;
  readonly json?: boolean;
}
export interface DoctorOptions extends Common {
  readonly call?: boolean;
}
export interface ConsoleOptions extends Common {
  readonly url?: string;
  readonly apiKey?: string;
  /** False: `--no-key`. */
  readonly key: boolean;
}
export interface BackupOptions extends Common {
  /** False: `--no-secrets`. */
  readonly secrets: boolean;
}
export interface DownOptions extends Common {
  readonly purge?: boolean;
  readonly yes?: boolean;
}
export interface RestoreOptions extends Common {
  readonly force?: boolean;
}
export interface MigrateStorageOptions extends Common {
  readonly to: string;
}

export type RotateSecretsOptions = Common;
export interface ReplacePepperOptions extends Common {
  readonly yes?: boolean;
}

export interface AuditVerifyOptions extends Common {
  readonly workspace?: string;
}

export interface ApplyFileOptions extends Common {
  readonly dryRun?: boolean;
}

/** Each returns its exit code, or throws a `CliError`. */
export interface Operations extends AlertOperations {
  readonly down: (options: DownOptions, terminal: Terminal, signal: AbortSignal) => Promise<number>;
  readonly console: (options: ConsoleOptions, terminal: Terminal, signal: AbortSignal) => Promise<number>;
  readonly doctor: (options: DoctorOptions, terminal: Terminal) => Promise<number>;
  readonly backup: (target: string, options: BackupOptions, terminal: Terminal) => Promise<number>;
  readonly restore: (file: string, options: RestoreOptions, terminal: Terminal) => Promise<number>;
  readonly migrateStorage: (options: MigrateStorageOptions, terminal: Terminal) => Promise<number>;
  readonly apply: (options: ApplyFileOptions, terminal: Terminal) => Promise<number>;
  readonly auditVerify: (options: AuditVerifyOptions, terminal: Terminal) => Promise<number>;
  readonly explainRoute: ExplainRoute;
  readonly rotateSecrets: (options: RotateSecretsOptions, terminal: Terminal) => Promise<number>;
  readonly models: ModelOperations;
  readonly verifyTranscript: VerifyTranscript;
  readonly replacePepper: (options: ReplacePepperOptions, terminal: Terminal, signal: AbortSignal) => Promise<number>;
}

export function addOperations(program: Command, run: Run, { operations }: { readonly operations: Operations }): void {
  addRoute(program, run, operations.explainRoute);
  addConsole(program, run, operations);
  program
    .command("apply")
    .description("Apply the objects of the configuration file to running gateways, and print the changes.")
    .addHelpText("after", helpFooter("patchbay apply", "patchbay apply --dry-run", "patchbay apply --json"))
    .addOption(configOption())
    .addOption(new Option("--dry-run", "Print the changes without applying them."))
    .addOption(jsonOption())
    .action(async (options: ApplyFileOptions) => {
      run.exitCode = await operations.apply(options, run.terminal);
    });
  program
    .command("doctor")
    .description("Check this installation. Each result is ok, warn or fail, with a fix.")
    .addHelpText("after", helpFooter("patchbay doctor", "patchbay doctor --call", "patchbay doctor --json"))
    .addOption(configOption())
    .addOption(jsonOption())
    .addOption(new Option("--call", "Also check that provider addresses respond. No credentials are sent."))
    .action(async (options: DoctorOptions) => {
      run.exitCode = await operations.doctor(options, run.terminal);
    });
  program
    .command("down")
    .description("Stop the gateway of this installation (embedded database only).")
    .addHelpText("after", helpFooter("patchbay down", "patchbay down --purge", "patchbay down --purge --yes --json"))
    .addOption(configOption())
    .addOption(new Option("--purge", "Also delete its data. The affected files are listed first."))
    .addOption(yesOption())
    .addOption(jsonOption())
    .action((options: DownOptions) =>
      run.interruptibly(async () => {
        run.exitCode = await operations.down(options, run.terminal, run.signal);
      }),
    );
  addKept(program, run, operations);
}

function addConsole(program: Command, run: Run, operations: Operations): void {
  program
    .command("console")
    .description("Print a sign-in link for the operator's console.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay console",
        "patchbay console --no-key",
        "patchbay console --url http://127.0.0.1:9081 --json",
      ),
    )
    .addOption(configOption())
    .addOption(new Option("--no-key", "Print the address without the key."))
    .addOption(
      new Option(
        "--url <url>",
        `Address of the admin listener (default: from the configuration, ${DEFAULT_ADMIN_URL} if not set).`,
      ),
    )
    .addOption(
      new Option(
        "--api-key <key>",
        "The operator key (PATCHBAY_API_KEY; default: from the configuration, or the one saved by a gateway started here).",
      ),
    )
    .addOption(jsonOption())
    .action((options: ConsoleOptions) =>
      run.interruptibly(async () => {
        run.exitCode = await operations.console(options, run.terminal, run.signal);
      }),
    );
}

/** Commands for stored data: backups, migration, audit log and secrets. */
function addKept(program: Command, run: Run, operations: Operations): void {
  program
    .command("backup")
    .description(
      "Back up an embedded installation (database, objects and secrets) to one file. Stop the gateway first.",
    )
    .argument("<file>", "Target file, or a directory for it.")
    .addHelpText("after", helpFooter("patchbay backup /backups", "patchbay backup patchbay.tar --no-secrets"))
    .addOption(configOption())
    .addOption(new Option("--no-secrets", "Exclude key-pepper, encryption-key and the saved API keys."))
    .addOption(jsonOption())
    .action(async (target: string, options: BackupOptions) => {
      run.exitCode = await operations.backup(target, options, run.terminal);
    });
  program
    .command("restore")
    .description("Restore a backup into the data directory, after verifying it completely.")
    .argument("<file>", "A file written by `patchbay backup`.")
    .addHelpText("after", helpFooter("patchbay restore /backups/patchbay-20261121T030000Z.tar"))
    .addOption(configOption())
    .addOption(new Option("--force", "Replace the current content of the data directory."))
    .addOption(jsonOption())
    .action(async (file: string, options: RestoreOptions) => {
      run.exitCode = await operations.restore(file, options, run.terminal);
    });
  program
    .command("migrate-storage")
    .description("Move an embedded installation to an empty PostgreSQL database. Stop the gateway first.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay migrate-storage --to postgres://patchbay:PASSWORD@db.internal/patchbay",
        "patchbay migrate-storage --to - < database-url",
      ),
    )
    .addOption(
      new Option(
        "--to <url>",
        "The database, as the owner of its schema; `-` reads it from stdin.",
      ).makeOptionMandatory(),
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: MigrateStorageOptions) => {
      run.exitCode = await operations.migrateStorage(options, run.terminal);
    });
  program
    .command("audit")
    .addHelpText("after", helpFooter("patchbay audit verify", "patchbay audit verify --workspace acme --json"))
    .description("Verify the integrity of the audit log.")
    .command("verify")
    .description("Verify every entry's hash, each chain, and the last signed checkpoint. Exit code 1 if a check fails.")
    .addHelpText("after", helpFooter("patchbay audit verify", "patchbay audit verify --workspace acme --json"))
    .addOption(
      new Option(
        "--workspace <workspace>",
        "Filter by workspace, by slug or id; `platform`: entries outside of workspaces.",
      ),
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: AuditVerifyOptions) => {
      run.exitCode = await operations.auditVerify(options, run.terminal);
    });
  addSecrets(program, run, operations);
}

function addSecrets(program: Command, run: Run, operations: Operations): void {
  const secrets = program
    .command("secrets")
    .addHelpText("after", helpFooter("patchbay secrets rotate", "patchbay secrets replace-pepper --yes"))
    .description("Rotate the encryption keys of stored secrets, or replace the pepper of API keys.");
  secrets
    .command("rotate")
    .description(
      "Rewrap every data key with the first of secrets.encryption_keys, and report what still needs each key. Works online with a server database.",
    )
    .addHelpText("after", helpFooter("patchbay secrets rotate", "patchbay secrets rotate --json"))
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: RotateSecretsOptions) => {
      run.exitCode = await operations.rotateSecrets(options, run.terminal);
    });
  secrets
    .command("replace-pepper")
    .description(
      "Adopt the configured pepper for the database. If it differs, all API keys become invalid; those in the file are recreated at the next start.",
    )
    .addHelpText("after", helpFooter("patchbay secrets replace-pepper", "patchbay secrets replace-pepper --yes --json"))
    .addOption(configOption())
    .addOption(yesOption())
    .addOption(jsonOption())
    .action((options: ReplacePepperOptions) =>
      run.interruptibly(async () => {
        run.exitCode = await operations.replacePepper(options, run.terminal, run.signal);
      }),
    );
}
