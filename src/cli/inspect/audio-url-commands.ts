// Declares `patchbay audio-url check`: its options and help.
import type { Command } from "commander";
import { checkAudioUrl } from "./check-audio-url.ts";
import { withAdminOptions, helpFooter, type Run } from "../command-kit.ts";
import type { AdminOptions } from "../administer/keys.ts";

export function addAudioUrl(program: Command, run: Run): void {
  const audioUrl = program
    .command("audio-url")
    .description("Check audio URLs against the allowlist.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay audio-url check https://media.acme.example/call.wav",
        "patchbay audio-url check 'https://media.acme.example/call.wav?signature=…' --workspace acme --json",
      ),
    );
  withAdminOptions(
    audioUrl
      .command("check")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay audio-url check https://media.acme.example/call.wav",
          "patchbay audio-url check 'https://media.acme.example/call.wav?signature=…' --workspace acme --json",
        ),
      )
      .description("Check a URL against each rule without fetching it. Exit code 2 if it would be rejected.")
      .argument("<url>", "The URL, as sent in `audio.url`."),
  ).action((url: string, options: AdminOptions) =>
    run.interruptibly(() => checkAudioUrl(url, options, run.terminal, run.signal)),
  );
}
