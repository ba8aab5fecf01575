// Declares `patchbay alerts test|secret`, which work on the configuration of this machine.
import { type Command, Option } from "commander";
import { configOption, helpFooter, jsonOption, type Run } from "../command-kit.ts";
import type { Terminal } from "../terminal.ts";

export interface AlertsOptions {
  readonly config?: string;
  readonly json?: boolean;
}
export interface AlertsSecretOptions extends AlertsOptions {
  readonly workspace?: string;
}

/** Each returns its exit code, or throws a `CliError`. */
export interface AlertOperations {
  readonly alertsTest: (options: AlertsOptions, terminal: Terminal) => Promise<number>;
  readonly alertsSecret: (url: string | undefined, options: AlertsSecretOptions, terminal: Terminal) => Promise<number>;
}

export function addAlerts(program: Command, run: Run, { operations }: { readonly operations: AlertOperations }): void {
  const alerts = program
    .command("alerts")
    .description("Test the destinations of alerts, and print their signing secrets.")
    .addHelpText(
      "after",
      helpFooter("patchbay alerts test", "patchbay alerts test --json", "SECRET=$(patchbay alerts secret)"),
    );
  alerts
    .command("test")
    .addHelpText("after", helpFooter("patchbay alerts test", "patchbay alerts test --json"))
    .description("Send a test alert to each configured destination now. Exit code 7 if one does not accept it.")
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: AlertsOptions) =>
      run.interruptibly(async () => {
        run.exitCode = await operations.alertsTest(options, run.terminal);
      }),
    );
  alerts
    .command("secret")
    .addHelpText(
      "after",
      helpFooter(
        "SECRET=$(patchbay alerts secret)",
        "patchbay alerts secret https://alerts.acme.example/patchbay --workspace acme",
      ),
    )
    .description("Print the signing secret of a destination that has none in the configuration.")
    .argument("[url]", "URL of the destination (default: the only one).")
    .addOption(new Option("--workspace <workspace>", "Slug of the workspace that owns the destination."))
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (url: string | undefined, options: AlertsSecretOptions) => {
      run.exitCode = await operations.alertsSecret(url, options, run.terminal);
    });
}
