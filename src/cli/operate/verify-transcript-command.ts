// Declares `patchbay verify-transcript`, which decodes a recording again and compares the text with a saved answer.
import { type Command, Option } from "commander";
import { configOption, helpFooter, jsonOption, type Run } from "../command-kit.ts";
import type { Terminal } from "../terminal.ts";

export interface VerifyTranscriptOptions {
  readonly audio: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Resolves with the exit code, or throws a `CliError`. */
export type VerifyTranscript = (
  file: string,
  options: VerifyTranscriptOptions,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<number>;

interface WithVerifyTranscript {
  readonly operations: { readonly verifyTranscript: VerifyTranscript };
}

export function addVerifyTranscript(program: Command, run: Run, { operations }: WithVerifyTranscript): void {
  program
    .command("verify-transcript")
    .description("Decode a recording again with the model of a saved answer, and list the differences.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay transcribe call.mp3 --timestamps word --json > call.json",
        "patchbay verify-transcript call.json --audio call.mp3",
      ),
    )
    .argument("<file>", "The JSON answer of a model on this machine, which contains the checksums of its files.")
    .addOption(new Option("--audio <file>", "The recording.").makeOptionMandatory())
    .addOption(configOption())
    .addOption(jsonOption())
    .action((file: string, options: VerifyTranscriptOptions) =>
      run.interruptibly(async () => {
        run.exitCode = await operations.verifyTranscript(file, options, run.terminal, run.signal);
      }),
    );
}
