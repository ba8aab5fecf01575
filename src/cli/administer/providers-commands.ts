// `patchbay providers …`: commands, options and help.
import { type Command, Option } from "commander";
import { CAPABILITIES } from "../../contract/features.ts";
import { PROVIDER_KINDS } from "../../contract/provider-kinds.ts";
import { addProvider, type ProviderAddOptions } from "./add-provider.ts";
import {
  adminKeyOption,
  withAdminOptions,
  adminUrlOption,
  examples,
  jsonOption,
  type Run,
  urlOption,
} from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import { type PauseOptions, pauseProvider, type ResumeOptions, resumeProvider } from "./pauses.ts";
import { type ProviderHealthOptions, showProviderHealth } from "../inspect/provider-health.ts";
import { checkProviders, listProviders, type ProviderCheckOptions, type ProviderListOptions } from "./providers.ts";
import { type ProviderTestOptions, testProvider } from "./test-provider.ts";

export function addProviders(program: Command, run: Run): void {
  const providers = program
    .command("providers")
    .description(
      "See which models routes can name and how the providers' accounts fare; add accounts, try them, pause them.",
    )
    .addHelpText(
      "before",
      examples(
        "patchbay providers list",
        "patchbay providers list --all --capability audio_input --workspace acme",
        "patchbay providers add dg --kind deepgram --credential deepgram-key.txt",
        "patchbay providers test dg",
        "patchbay providers check",
        "patchbay providers health --minutes 60",
        'patchbay providers pause dg --model nova-3 --for 2h --reason "announced outage"',
        "patchbay providers resume dg",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  withAdminOptions(
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
    .command("add")
    .description(
      "Connect an account at a provider: the platform's, as the operator, or a workspace's own. Nothing is called.",
    )
    .argument("<id>", "Name by which routes refer to it.")
    .addOption(new Option("--kind <kind>", "The provider.").choices(PROVIDER_KINDS).makeOptionMandatory())
    .addOption(new Option("--credential <file>", "File that holds the credential; `-` reads it from stdin."))
    .addOption(new Option("--base-url <url>", "Where it is, if not at the provider's own address."))
    .addOption(
      new Option("--settings <file>", "What else it has, `timeout_seconds` and `models`, as JSON; `-` is stdin."),
    )
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
    .description(
      "Ask an account's provider the one question that it answers for nothing: whether it takes the credential, and which models it lists; exit code 7 if that does not come out well.",
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
  addPausing(providers, run);
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
  providers
    .command("health")
    .description(
      "As the operator: calls, successes, durations and failures of each model, as all processes recorded them, and the last errors.",
    )
    .addOption(new Option("--minutes <n>", "How far to look back, at most 1440; 15 unless given."))
    .addOption(adminUrlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((options: ProviderHealthOptions) =>
      run.interruptibly(() => showProviderHealth(options, run.terminal, run.signal)),
    );
}

function addPausing(providers: Command, run: Run): void {
  const placed = (command: Command): Command =>
    command
      .argument("<id>", "Name of the connection.")
      .addOption(new Option("--model <model>", "This model alone, not all of the connection."))
      .addOption(ownOption())
      .addOption(adminUrlOption())
      .addOption(urlOption())
      .addOption(jsonOption())
      .addOption(adminKeyOption());
  placed(
    providers
      .command("pause")
      .description(
        "Send nothing to an account, or to one model on it, for a while: other targets serve, jobs wait. It ends by itself.",
      ),
  )
    .addOption(new Option("--for <duration>", "How long: 30m, 1h, 2h30m, 7d at most; an hour unless given."))
    .addOption(new Option("--reason <text>", "Why, for others who administer; no caller is told."))
    .action((id: string, options: PauseOptions) =>
      run.interruptibly(() => pauseProvider(id, options, run.terminal, run.signal)),
    );
  placed(
    providers
      .command("resume")
      .description("Let an account, or one model on it, serve again: ends its pauses, and its rests after failures."),
  ).action((id: string, options: ResumeOptions) =>
    run.interruptibly(() => resumeProvider(id, options, run.terminal, run.signal)),
  );
}

function ownOption(): Option {
  return new Option(
    "--workspace <workspace>",
    "This workspace's own (BYOK), by slug or id, not the platform's.",
  ).conflicts("adminUrl");
}
