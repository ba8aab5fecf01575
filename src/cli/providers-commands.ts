// `patchbay providers …`: its commands, their options, and their help (contract 6, 10).
import { type Command, Option } from "commander";
import { CAPABILITIES } from "../contract/features.ts";
import { PROVIDER_KINDS } from "../contract/provider-kinds.ts";
import { adminKeyOption, administered, adminUrlOption, examples, jsonOption, type Run } from "./command-kit.ts";
import { EXIT_CODE_HELP } from "./exit-codes.ts";
import { checkProviders, listProviders, type ProviderCheckOptions, type ProviderListOptions } from "./providers.ts";

export function addProviders(program: Command, run: Run): void {
  const providers = program
    .command("providers")
    .description("See which models routes can name, and how the providers' accounts fare.")
    .addHelpText(
      "before",
      examples(
        "patchbay providers list",
        "patchbay providers list --all --capability audio_input --workspace acme",
        "patchbay providers check",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  administered(
    providers
      .command("list")
      .alias("ls")
      .description("List the models that routes of a workspace can name, as of now."),
  )
    .addOption(new Option("--capability <capability>", "Only models that can do this.").choices(CAPABILITIES))
    .addOption(new Option("--provider <kind>", "Only this provider's.").choices(PROVIDER_KINDS))
    .addOption(new Option("--all", "Also models that no connection has: what an account would add."))
    .action((options: ProviderListOptions) =>
      run.interruptibly(() => listProviders(options, run.terminal, run.signal)),
    );
  providers
    .command("check")
    .description(
      "As the operator: accounts, their credentials, and which models rest after failures; exit code 7 if any does, or a credential is missing. No provider is called.",
    )
    .addOption(adminUrlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((options: ProviderCheckOptions) =>
      run.interruptibly(() => checkProviders(options, run.terminal, run.signal)),
    );
}
