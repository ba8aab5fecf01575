// `patchbay route explain`: shows where a request would be routed, and why [cli.route-explain].
import { type Command, InvalidArgumentError, Option } from "commander";
import { AUDIO_FORMATS, type AudioFormat } from "../../contract/audio-formats.ts";
import { configOption, examples, jsonOption, type Run } from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import type { PlaceOptions } from "../gateway-session.ts";
import type { Terminal } from "../terminal.ts";
import { addFieldOptions, fieldsOf } from "../use/transcription-options.ts";

export interface ExplainOptions extends PlaceOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** Id of a stored key. */
  readonly key?: string;
  readonly app?: string;
  readonly request?: string;
  /** File with the body of a chat request. */
  readonly chat?: string;
  readonly translate?: boolean;
  readonly toLanguage?: string;
  readonly seconds?: number;
  readonly bytes?: number;
  readonly channels?: number;
  readonly audioFormat?: AudioFormat;
  readonly route?: string;
  readonly routeVersion?: number | "draft";
  /** Fields of a transcription or translation, under their API names. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns its exit code, or throws a `CliError`. `file`: the recording; undefined: options describe it. */
export type ExplainRoute = (
  file: string | undefined,
  options: ExplainOptions,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<number>;

export function addRoute(program: Command, run: Run, explainRoute: ExplainRoute): void {
  const command = program
    .command("route")
    .description("See where requests go.")
    .command("explain")
    .description(
      "Decide a request as the gateway would; nothing is called, changed or billed. From what is stored, with every provider taken for healthy; by the gateway itself, as it sees them now, where one is named or has the embedded database.",
    )
    .argument("[file]", "The recording; not given: what the options say of it, or nothing is known of it.")
    .addHelpText(
      "before",
      examples(
        "patchbay route explain call.mp3 --app acme/notes --diarization",
        "patchbay route explain --key key_01m7xvdv3gfy48mypwbq45tkm4 --seconds 5400 --language pt-BR",
        "patchbay route explain --chat request.json --app acme/notes",
        "patchbay route explain --app acme/notes --seconds 2400 --audio-format mp3 --diarization --route-version draft",
        "patchbay route explain call.mp3 --app acme/notes --admin-url http://127.0.0.1:8081",
        "patchbay route explain --request req_01m7xvdv3gfy48mypwbq45tkm4",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`)
    .addOption(
      new Option("--app <app>", "Whose request it would be: an app's id, or workspace/app; its slug with --workspace."),
    )
    .addOption(new Option("--key <id>", "The same by a stored key's id."))
    .addOption(
      new Option(
        "--api-key <key>",
        "The same by the key itself (PATCHBAY_API_KEY); with --admin-url or --workspace the key that asks the gateway.",
      ),
    )
    .addOption(new Option("--request <id>", "What was decided of a request that is on record."))
    .addOption(new Option("--chat <file>", "The JSON body of a chat, instead of a recording."))
    .addOption(new Option("--translate", "A translation instead of a transcription."))
    .addOption(new Option("--to-language <text>", "Language to translate into."))
    .addOption(
      new Option(
        "--route-version <version>",
        "By a version of the route that serves it: `draft`, or a number. What serves unless given.",
      ).argParser(parseVersion),
    )
    .addOption(new Option("--route <id>", "By the draft, or --route-version, of this route instead."))
    .addOption(new Option("--seconds <n>", "Length of a recording that is not at hand.").argParser(parseAmount))
    .addOption(
      new Option("--bytes <n>", "Its size; as of 16-bit WAV, or of 128 kbit/s, unless given.").argParser(parseAmount),
    )
    .addOption(new Option("--channels <n>", "Its channels; 1 unless given.").argParser(parseAmount))
    .addOption(new Option("--audio-format <format>", "Its format; wav unless given.").choices(AUDIO_FORMATS))
    .addOption(new Option("--admin-url <url>", "Ask the gateway with this admin listener, as the operator."))
    .addOption(new Option("--workspace <workspace>", "Ask the gateway as an administrator of this workspace."))
    .addOption(new Option("--url <url>", "Address of the gateway, with --workspace (PATCHBAY_URL)."))
    .addOption(configOption())
    .addOption(jsonOption());
  addFieldOptions(command).action(async (file: string | undefined, options: Omit<ExplainOptions, "fields">) => {
    const fields = fieldsOf({ ...options });
    await run.interruptibly(async () => {
      run.exitCode = await explainRoute(file, { ...options, fields }, run.terminal, run.signal);
    });
  });
}

function parseVersion(text: string): number | "draft" {
  if (text === "draft") return text;
  if (/^[1-9]\d{0,8}$/u.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be `draft` or a number.");
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (!/^\d{1,12}(\.\d{1,3})?$/u.test(text) || amount === 0)
    throw new InvalidArgumentError("It must be a number above 0.");
  return amount;
}
