// `patchbay models list|pull|verify|rm|import`: speech models that run on this machine.
import { type Command, Option } from "commander";
import { configOption, helpFooter, jsonOption, type Run, yesOption } from "../command-kit.ts";
import type { Terminal } from "../terminal.ts";

export interface ModelOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export interface LicenceOptions extends ModelOptions {
  readonly yes?: boolean;
  readonly acceptLicence?: boolean;
}

export interface RemoveModelOptions extends ModelOptions {
  readonly yes?: boolean;
}

/** Each returns its exit code, or throws a `CliError`. */
export interface ModelOperations {
  readonly list: (options: ModelOptions, terminal: Terminal) => Promise<number>;
  readonly pull: (
    names: readonly string[],
    options: LicenceOptions,
    terminal: Terminal,
    signal: AbortSignal,
  ) => Promise<number>;
  readonly verify: (
    names: readonly string[],
    options: ModelOptions,
    terminal: Terminal,
    signal: AbortSignal,
  ) => Promise<number>;
  readonly remove: (
    name: string,
    options: RemoveModelOptions,
    terminal: Terminal,
    signal: AbortSignal,
  ) => Promise<number>;
  readonly import: (path: string, options: LicenceOptions, terminal: Terminal, signal: AbortSignal) => Promise<number>;
}

interface WithModels {
  readonly operations: { readonly models: ModelOperations };
}

export function addModels(program: Command, run: Run, { operations }: WithModels): void {
  const { models: operation } = operations;
  const act = (work: () => Promise<number>): Promise<void> =>
    run.interruptibly(async () => {
      run.exitCode = await work();
    });
  const models = program
    .command("models")
    .description("Speech models that run on this machine. Nothing is downloaded unless you ask.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay models list",
        "patchbay models pull",
        "patchbay models pull parakeet-0.6b-v3 --accept-licence",
        "patchbay models verify",
        "patchbay models import /media/usb/models",
      ),
    );
  models
    .command("list")
    .addHelpText("after", helpFooter("patchbay models list", "patchbay models list --json"))
    .alias("ls")
    .description(
      "List models: installed ones, and those that can be pulled, with size, licence, languages and features.",
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: ModelOptions) => act(() => operation.list(options, run.terminal)));
  models
    .command("pull")
    .addHelpText("after", helpFooter("patchbay models pull", "patchbay models pull parakeet-0.6b-v3 --accept-licence"))
    .description("Download models after showing their licence. A download that was interrupted continues.")
    .argument("[names...]", "Names of `patchbay models list` (default: a small one for English).")
    .addOption(acceptOption())
    .addOption(yesOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action((names: readonly string[], options: LicenceOptions) =>
      act(() => operation.pull(names, options, run.terminal, run.signal)),
    );
  models
    .command("verify")
    .addHelpText("after", helpFooter("patchbay models verify", "patchbay models verify parakeet-0.6b-v3"))
    .description("Compare installed models with their sizes and checksums. Exit code 1 if one differs.")
    .argument("[names...]", "Names of installed models (default: all).")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((names: readonly string[], options: ModelOptions) =>
      act(() => operation.verify(names, options, run.terminal, run.signal)),
    );
  models
    .command("rm")
    .addHelpText("after", helpFooter("patchbay models rm parakeet-0.6b-v3"))
    .description("Remove a model, and what was downloaded of it.")
    .argument("<name>", "Name of an installed model, or of one whose download was interrupted.")
    .addOption(yesOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action((name: string, options: RemoveModelOptions) =>
      act(() => operation.remove(name, options, run.terminal, run.signal)),
    );
  models
    .command("import")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay models import /media/usb/models",
        "patchbay models import parakeet.tar.bz2 --accept-licence",
      ),
    )
    .description("Install the models that a directory, an archive or a file contains, with the same checks.")
    .argument("<path>", "A directory, a .tar.bz2, .tar.gz or .tar archive, or a single file.")
    .addOption(acceptOption())
    .addOption(yesOption())
    .addOption(configOption())
    .addOption(jsonOption())
    .action((path: string, options: LicenceOptions) =>
      act(() => operation.import(path, options, run.terminal, run.signal)),
    );
}

export function acceptOption(): Option {
  return new Option("--accept-licence", "Accept the licence that is printed, without being asked.");
}
