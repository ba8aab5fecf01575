// Declares `patchbay purposes …`: its subcommands, options and help.
import { type Command, Option } from "commander";
import { PROFILES } from "../../contract/features.ts";
import { withConnectionOptions, helpFooter, type Run } from "../command-kit.ts";
import { listPurposes, type PurposeOptions, testPurpose, type PurposeTestOptions } from "./purposes.ts";

export function addPurposes(program: Command, run: Run): void {
  const purposes = program
    .command("purposes")
    .description("List the purposes that an app may send, and test one.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay purposes list",
        "patchbay purposes test meetings",
        "patchbay purposes test meetings hearing.mp3 --purpose-policy strict --json",
        "patchbay purposes test drafts --chat",
      ),
    );
  withConnectionOptions(
    purposes
      .command("list")
      .addHelpText("after", helpFooter("patchbay purposes list", "patchbay purposes list --json"))
      .alias("ls")
      .description("List the purposes of the key's routes."),
  ).action((options: PurposeOptions) => run.interruptibly(() => listPurposes(options, run.terminal, run.signal)));
  withConnectionOptions(
    purposes
      .command("test")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay purposes test meetings",
          "patchbay purposes test meetings hearing.mp3 --purpose-policy strict --json",
          "patchbay purposes test drafts --chat",
        ),
      )
      .description(
        "Dry-run a request with this purpose without calling a provider. Exit code 7 if the purpose would not be applied.",
      )
      .argument("<purpose>", "The label.")
      .argument("[file]", "Audio file, an https:// URL, or `-` for stdin (default: the bundled sample)."),
  )
    .addOption(new Option("--chat", "Test a chat request instead of a recording."))
    .addOption(new Option("--purpose-policy <policy>", "Overrides the app's policy.").choices(["fallback", "strict"]))
    .addOption(new Option("--response-profile <profile>", "Response profile.").choices(PROFILES))
    .action((purpose: string, file: string | undefined, options: PurposeTestOptions) =>
      run.interruptibly(() => testPurpose(purpose, file, options, run.terminal, run.signal)),
    );
}
