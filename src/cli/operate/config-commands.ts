// `patchbay config validate|print|schema`: validates the configuration file, prints the effective one, and prints its JSON Schema for editors.
import type { Command } from "commander";
import { stringify } from "yaml";
import { loadConfiguration } from "../../config/load-configuration.ts";
import { formatFault } from "../../config/fault.ts";
import { configSchemaJson } from "../../config/json-schema.ts";
import { printableConfiguration } from "../../config/print-configuration.ts";
import { configOption, helpFooter, jsonOption, type Run } from "../command-kit.ts";
import { EXIT } from "../exit-codes.ts";
import { CliError, printLine, type Terminal, write } from "../terminal.ts";

interface ConfigOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export function addConfig(program: Command, run: Run): void {
  const config = program
    .command("config")
    .description("Validate or print the configuration, or print its schema.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay config validate",
        "patchbay config print --config patchbay.yaml",
        "patchbay config schema > patchbay.schema.json",
      ),
    );
  config
    .command("validate")
    .addHelpText(
      "after",
      helpFooter("patchbay config validate", "patchbay config validate --config /etc/patchbay/patchbay.yaml --json"),
    )
    .description("Validate the configuration and list all errors. Exit code 9 if there are any.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: ConfigOptions) => validateConfiguration(options, run.terminal));
  config
    .command("print")
    .addHelpText("after", helpFooter("patchbay config print", "patchbay config print --config patchbay.yaml --json"))
    .description("Print the effective configuration: with defaults, secrets masked.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: ConfigOptions) => printConfiguration(options, run.terminal));
  config
    .command("schema")
    .addHelpText("after", helpFooter("patchbay config schema > patchbay.schema.json"))
    .description("Print the JSON Schema of the file, for editors.")
    .action(() => printSchema(run.terminal));
}

async function validateConfiguration(options: ConfigOptions, terminal: Terminal): Promise<void> {
  const loaded = await load(options, terminal);
  const name = loaded.file ?? "the environment (there is no patchbay.yaml)";
  if (options.json === true)
    await write(terminal.stdout, `${JSON.stringify({ ok: true, file: loaded.file, warnings: loaded.warnings })}\n`);
  else await write(terminal.stdout, `OK: ${name} is valid\n`);
}

async function printConfiguration(options: ConfigOptions, terminal: Terminal): Promise<void> {
  const { configuration } = await load(options, terminal);
  const printable = printableConfiguration(configuration);
  await write(
    terminal.stdout,
    options.json === true ? `${JSON.stringify(printable, null, 2)}\n` : stringify(printable),
  );
}

async function printSchema(terminal: Terminal): Promise<void> {
  await write(terminal.stdout, `${JSON.stringify(configSchemaJson(), null, 2)}\n`);
}

async function load(options: ConfigOptions, terminal: Terminal) {
  const loaded = loadConfiguration({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (loaded.ok) {
    for (const warning of loaded.warnings) await printLine(terminal, `${formatFault(warning)} (warning)`);
    return loaded;
  }
  const count = loaded.faults.length === 1 ? "1 fault" : `${loaded.faults.length} faults`;
  for (const fault of loaded.faults) await printLine(terminal, formatFault(fault));
  throw new CliError(EXIT.config, `The configuration has ${count}.`, {
    document: { ok: false, faults: loaded.faults },
  });
}
