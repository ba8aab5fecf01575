// `patchbay purposes …`: commands, options and help.
import { type Command, Option } from "commander";
import { PROFILES } from "../../contract/features.ts";
import { withConnectionOptions, examples, type Run } from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import { listPurposes, type PurposeOptions, testPurpose, type PurposeTestOptions } from "./purposes.ts";

export function addPurposes(program: Command, run: Run): void {
  const purposes = program
    .command("purposes")
    .description("See which purposes an app may send, and where one would lead.")
    .addHelpText(
      "before",
      examples(
        "patchbay purposes list",
        "patchbay purposes test meetings",
        "patchbay purposes test meetings hearing.mp3 --purpose-policy strict --json",
        "patchbay purposes test drafts --chat",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  withConnectionOptions(
    purposes.command("list").alias("ls").description("List the purposes of the key's routes."),
  ).action((options: PurposeOptions) => run.interruptibly(() => listPurposes(options, run.terminal, run.signal)));
  withConnectionOptions(
    purposes
      .command("test")
      .description(
        "Decide a request with this purpose and call no provider; exit code 7 if the purpose would not be applied.",
      )
      .argument("<purpose>", "The label.")
      .argument("[file]", "Audio file, an https:// URL, or `-` for stdin; the bundled sample unless given."),
  )
    .addOption(new Option("--chat", "Of a chat instead of a recording."))
    .addOption(new Option("--purpose-policy <policy>", "Instead of the app's.").choices(["fallback", "strict"]))
    .addOption(new Option("--response-profile <profile>", "With this profile.").choices(PROFILES))
    .action((purpose: string, file: string | undefined, options: PurposeTestOptions) =>
      run.interruptibly(() => testPurpose(purpose, file, options, run.terminal, run.signal)),
    );
}
