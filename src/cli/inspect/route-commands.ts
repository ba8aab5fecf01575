// Declares `patchbay route explain`, which shows where a request would be routed and why [cli.route-explain]: its options and help.
import { type Command, InvalidArgumentError, Option } from "commander";
import { AUDIO_FORMATS, type AudioFormat } from "../../contract/transcription/audio-formats.ts";
import { configOption, helpFooter, jsonOption, type Run } from "../command-kit.ts";
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
    .addHelpText(
      "after",
      helpFooter(
        "patchbay route explain call.mp3 --app acme/notes --diarization",
        "patchbay route explain --request req_01m7xvdv3gfy48mypwbq45tkm4",
      ),
    )
    .description("Explain where requests are routed.")
    .command("explain")
    .description(
      "Explain the routing of a request without calling, changing or billing anything. By default, it reads the database and assumes that all providers are healthy. With a gateway address or the embedded database, the running gateway answers with current health.",
    )
    .argument("[file]", "The recording. Without it, the options describe the recording.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay route explain call.mp3 --app acme/notes --diarization",
        "patchbay route explain --key key_01m7xvdv3gfy48mypwbq45tkm4 --seconds 5400 --language pt-BR",
        "patchbay route explain --chat request.json --app acme/notes",
        "patchbay route explain --app acme/notes --seconds 2400 --audio-format mp3 --diarization --route-version draft",
        "patchbay route explain call.mp3 --app acme/notes --admin-url http://127.0.0.1:8081",
        "patchbay route explain --request req_01m7xvdv3gfy48mypwbq45tkm4",
      ),
    )
    .addOption(new Option("--app <app>", "App of the request: an id, workspace/app, or a slug with --workspace."))
    .addOption(new Option("--key <id>", "API key of the request, by id."))
    .addOption(
      new Option(
        "--api-key <key>",
        "API key of the request (PATCHBAY_API_KEY). With --admin-url or --workspace, the administrator key.",
      ),
    )
    .addOption(new Option("--request <id>", "Explain a recorded request."))
    .addOption(new Option("--chat <file>", "The JSON body of a chat, instead of a recording."))
    .addOption(new Option("--translate", "A translation instead of a transcription."))
    .addOption(new Option("--to-language <text>", "Language to translate into."))
    .addOption(
      new Option(
        "--route-version <version>",
        "Version of the route: `draft` or a number (default: the published version).",
      ).argParser(parseVersion),
    )
    .addOption(new Option("--route <id>", "Use the draft, or --route-version, of this route."))
    .addOption(new Option("--seconds <n>", "Duration of the recording in seconds.").argParser(parseAmount))
    .addOption(
      new Option("--bytes <n>", "Size of the recording (default: 16-bit WAV or 128 kbit/s).").argParser(parseAmount),
    )
    .addOption(new Option("--channels <n>", "Number of channels (default: 1).").argParser(parseAmount))
    .addOption(new Option("--audio-format <format>", "Format of the recording (default: wav).").choices(AUDIO_FORMATS))
    .addOption(new Option("--admin-url <url>", "Address of the admin listener to ask (operators only)."))
    .addOption(new Option("--workspace <workspace>", "Workspace to administer, by slug or id."))
    .addOption(new Option("--url <url>", "Address of the gateway, used with --workspace (PATCHBAY_URL)."))
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
