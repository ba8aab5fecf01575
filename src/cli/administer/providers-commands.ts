// Declares `patchbay providers …`: its subcommands, options and help.
import { type Command, Option } from "commander";
import { CAPABILITIES } from "../../contract/features.ts";
import { PROVIDER_KINDS } from "../../contract/provider-kinds.ts";
import { addProvider, type ProviderAddOptions } from "./add-provider.ts";
import {
  adminKeyOption,
  withAdminOptions,
  adminUrlOption,
  helpFooter,
  jsonOption,
  limitOption,
  type Run,
  urlOption,
} from "../command-kit.ts";
import { type PauseOptions, pauseProvider, type ResumeOptions, resumeProvider } from "./pauses.ts";
import { type ProviderHealthOptions, showProviderHealth } from "../inspect/provider-health.ts";
import { type RetirementOptions, showRetirements } from "../inspect/retirements.ts";
import {
  checkProviders,
  listModelLives,
  listProviders,
  type ProviderCheckOptions,
  type ProviderListOptions,
} from "./providers.ts";
import { type ProviderTestOptions, testProvider } from "./test-provider.ts";

export function addProviders(program: Command, run: Run): void {
  const providers = program
    .command("providers")
    .description("List models and the health of provider accounts; add, test and pause accounts.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay providers list",
        "patchbay providers list --all --capability audio_input --workspace acme",
        "patchbay providers models --all",
        "patchbay providers retirements --within 90",
        "patchbay providers add dg --kind deepgram --credential deepgram-key.txt",
        "patchbay providers test dg",
        "patchbay providers check",
        "patchbay providers health --minutes 60",
        'patchbay providers pause dg --model nova-3 --for 2h --reason "announced outage"',
        "patchbay providers resume dg",
      ),
    );
  const withFilters = (command: Command): Command =>
    withAdminOptions(command)
      .addOption(new Option("--capability <capability>", "Filter by capability.").choices(CAPABILITIES))
      .addOption(new Option("--provider <kind>", "Filter by provider.").choices(PROVIDER_KINDS))
      .addOption(new Option("--all", "Include models that no connection offers yet."));
  withFilters(
    providers
      .command("models")
      .addHelpText(
        "after",
        helpFooter("patchbay providers models", "patchbay providers models --all --provider deepgram"),
      )
      .description(
        "Show the status of each model: when it was verified, when it ends, by which source, and what replaces it.",
      ),
  ).action((options: ProviderListOptions) =>
    run.interruptibly(() => listModelLives(options, run.terminal, run.signal)),
  );
  withFilters(
    providers
      .command("list")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay providers list",
          "patchbay providers list --all --capability audio_input --workspace acme",
        ),
      )
      .alias("ls")
      .description("List the models that routes of a workspace can currently name."),
  ).action((options: ProviderListOptions) => run.interruptibly(() => listProviders(options, run.terminal, run.signal)));
  addAccounts(providers, run);
  addRetirements(providers, run);
  addPausing(providers, run);
  providers
    .command("check")
    .addHelpText("after", helpFooter("patchbay providers check", "patchbay providers check --json"))
    .description(
      "Show accounts, their credentials and models that are unavailable after failures (operators only). Exit code 7 if there is one or a credential is missing. No provider is called.",
    )
    .addOption(adminUrlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((options: ProviderCheckOptions) =>
      run.interruptibly(() => checkProviders(options, run.terminal, run.signal)),
    );
  providers
    .command("health")
    .addHelpText("after", helpFooter("patchbay providers health", "patchbay providers health --minutes 60"))
    .description(
      "Show calls, success rate, durations and failures of each model across all processes, and the last errors (operators only).",
    )
    .addOption(new Option("--minutes <n>", "Period in minutes, at most 1440 (default: 15)."))
    .addOption(adminUrlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((options: ProviderHealthOptions) =>
      run.interruptibly(() => showProviderHealth(options, run.terminal, run.signal)),
    );
}

/** Commands for provider accounts. */
function addAccounts(providers: Command, run: Run): void {
  providers
    .command("add")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay providers add dg --kind deepgram --credential deepgram-key.txt",
        "patchbay providers add own --kind openai --credential - --workspace acme < openai-key.txt",
      ),
    )
    .description("Connect a provider account, shared (as the operator) or of one workspace. No provider is called.")
    .argument("<id>", "Name that routes use for it.")
    .addOption(new Option("--kind <kind>", "The provider.").choices(PROVIDER_KINDS).makeOptionMandatory())
    .addOption(new Option("--credential <file>", "File that contains the credential; `-` for stdin."))
    .addOption(new Option("--base-url <url>", "Base URL, if it is not the provider's own."))
    .addOption(new Option("--settings <file>", "Other fields, `timeout_seconds` and `models`, as JSON; `-` for stdin."))
    .addOption(ownOption())
    .addOption(adminUrlOption())
    .addOption(urlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((id: string, options: ProviderAddOptions) =>
      run.interruptibly(() => addProvider(id, options, run.terminal, run.signal)),
    );
  providers
    .command("test")
    .addHelpText(
      "after",
      helpFooter("patchbay providers test dg", "patchbay providers test own --workspace acme --json"),
    )
    .description(
      "Test an account with a free request: is the credential accepted, and which models are listed? Exit code 7 if the test fails.",
    )
    .argument("<id>", "Name of the connection.")
    .addOption(ownOption())
    .addOption(adminUrlOption())
    .addOption(urlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((id: string, options: ProviderTestOptions) =>
      run.interruptibly(() => testProvider(id, options, run.terminal, run.signal)),
    );
}

function addRetirements(providers: Command, run: Run): void {
  providers
    .command("retirements")
    .addHelpText(
      "after",
      helpFooter("patchbay providers retirements", "patchbay providers retirements --within 90 --workspace acme"),
    )
    .description(
      "Show what routes lose when providers end models, by feature, and which target would keep it. Nothing is changed.",
    )
    .addOption(new Option("--within <days>", "Only those at most so many days away, and those that have happened."))
    .addOption(limitOption())
    .addOption(
      new Option("--workspace <workspace>", "Only the routes of this workspace, by slug or id.").conflicts("adminUrl"),
    )
    .addOption(adminUrlOption())
    .addOption(urlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((options: RetirementOptions) =>
      run.interruptibly(() => showRetirements(options, run.terminal, run.signal)),
    );
}

function addPausing(providers: Command, run: Run): void {
  const placed = (command: Command): Command =>
    command
      .argument("<id>", "Name of the connection.")
      .addOption(new Option("--model <model>", "Only this model, not the whole connection."))
      .addOption(ownOption())
      .addOption(adminUrlOption())
      .addOption(urlOption())
      .addOption(jsonOption())
      .addOption(adminKeyOption());
  placed(
    providers
      .command("pause")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay providers pause dg --for 30m",
          'patchbay providers pause dg --model nova-3 --for 2h --reason "announced outage"',
        ),
      )
      .description(
        "Pause an account, or one of its models, for a limited time. Other targets serve requests; jobs without one wait.",
      ),
  )
    .addOption(new Option("--for <duration>", "Duration such as 30m, 1h or 2h30m, at most 7d (default: 1h)."))
    .addOption(new Option("--reason <text>", "Reason, shown to administrators only."))
    .action((id: string, options: PauseOptions) =>
      run.interruptibly(() => pauseProvider(id, options, run.terminal, run.signal)),
    );
  placed(
    providers
      .command("resume")
      .addHelpText("after", helpFooter("patchbay providers resume dg", "patchbay providers resume dg --model nova-3"))
      .description("Resume an account, or one of its models: end its pauses and close its circuit."),
  ).action((id: string, options: ResumeOptions) =>
    run.interruptibly(() => resumeProvider(id, options, run.terminal, run.signal)),
  );
}

function ownOption(): Option {
  return new Option(
    "--workspace <workspace>",
    "Connection of this workspace (BYOK), by slug or id, instead of a shared one.",
  ).conflicts("adminUrl");
}
