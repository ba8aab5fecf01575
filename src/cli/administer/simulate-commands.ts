// Declares the command `patchbay simulate`: its options and help.
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { SIMULATED_DROPS, SIMULATED_PROVIDERS } from "../../contract/admin/sandbox-faults.ts";
import { adminKeyOption, adminUrlOption, helpFooter, jsonOption, type Run } from "../command-kit.ts";
import { FAULT_NAMES, simulate, type SimulateOptions } from "./simulate.ts";
import { parseCount } from "../use/transcription-options.ts";

export function addSimulate(program: Command, run: Run): void {
  program
    .command("simulate")
    .description("Inject faults into the simulated providers of a running gateway. Real providers are not affected.")
    .addArgument(
      new Argument(
        "[fault]",
        `A status such as 429 or 503, or ${FAULT_NAMES.join(", ")}. Without it, list the active faults.`,
      ),
    )
    .addHelpText(
      "after",
      helpFooter(
        "patchbay simulate 429 --times 1",
        "patchbay simulate slow --seconds 20 --provider deepgram",
        "patchbay simulate timeout --provider openai",
        "patchbay simulate drop --feature diarization",
        "patchbay simulate other-model --answered-by gemini-3.6-flash --provider gemini",
        "patchbay simulate off",
      ),
    )
    .addOption(
      new Option("--provider <provider>", "Filter by provider with the simulated wire format.").choices(
        SIMULATED_PROVIDERS.options,
      ),
    )
    .addOption(new Option("--model <model>", "Filter by model, by the provider's name for it."))
    .addOption(new Option("--times <n>", "Number of calls (default: until `off`).").argParser(parseCount))
    .addOption(
      new Option("--seconds <n>", "Delay in seconds (default: 5); with a status: Retry-After.").argParser(parseSeconds),
    )
    .addOption(new Option("--feature <feature>", "Feature that is missing from the answer.").choices(SIMULATED_DROPS))
    .addOption(new Option("--answered-by <model>", "Model that answers under the name of the requested one."))
    .addOption(adminUrlOption())
    .addOption(jsonOption())
    .addOption(adminKeyOption())
    .action((fault: string | undefined, options: SimulateOptions) =>
      run.interruptibly(() => simulate(fault, options, run.terminal, run.signal)),
    );
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^\d{1,4}(\.\d{1,3})?$/u.test(text) || seconds === 0)
    throw new InvalidArgumentError("It must be a number above 0.");
  return seconds;
}
