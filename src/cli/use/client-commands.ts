// Declares `patchbay transcribe`, `translate` and `listen`, the commands that call a gateway: their options and help.
import { type Command, Option } from "commander";
import { RESPONSE_FORMATS } from "../../contract/transcription-fields.ts";
import {
  adminKeyOption,
  apiKeyOption,
  examples,
  idempotencyKeyOption,
  outputOption,
  type Run,
  urlOption,
  workspaceOption,
} from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import { listen, type ListenOptions } from "./listen.ts";
import { transcribe, translate, type TranscribeOptions } from "./transcribe.ts";
import { addFieldOptions } from "./transcription-options.ts";

export function addTranscribe(program: Command, run: Run): void {
  const command = program
    .command("transcribe")
    .description("Transcribe audio with a running gateway.")
    .addHelpText(
      "before",
      examples(
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        "patchbay transcribe call.mp3 --keyterm Patchbay --keyterm diarization --json",
        "ffmpeg -i talk.mov -f wav - | patchbay transcribe -",
      ),
    );
  addFieldOptions(audioOptions(command, "Transcribe")).action(
    async (file: string | undefined, options: TranscribeOptions) => {
      await run.interruptibly(() => transcribe(file, options, run.terminal, run.signal));
    },
  );
}

export function addTranslate(program: Command, run: Run): void {
  const command = program
    .command("translate")
    .description("Translate speech to text with a running gateway (default: into English).")
    .addHelpText(
      "before",
      examples(
        "patchbay translate gespraech.mp3",
        "patchbay translate call.mp3 --to-language de --format vtt -o call.de.vtt",
        "patchbay translate https://media.acme.example/call.mp3 --json",
      ),
    );
  addFieldOptions(audioOptions(command, "Translate"), "translation").action(
    async (file: string | undefined, options: TranscribeOptions) => {
      await run.interruptibly(() => translate(file, options, run.terminal, run.signal));
    },
  );
}

function audioOptions(command: Command, verb: string): Command {
  return sendingOptions(command, verb)
    .addOption(new Option("--json", "Print the whole response as one JSON document."))
    .addOption(new Option("--format <format>", "Print the result in this format.").choices(RESPONSE_FORMATS))
    .addOption(outputOption());
}

/** Options of every command that sends audio. */
export function sendingOptions(command: Command, verb: string): Command {
  return command
    .argument("[file]", "Audio file, an https:// URL, or `-` for stdin.")
    .addHelpText("after", `\n${EXIT_CODE_HELP}`)
    .addOption(new Option("--sample", `${verb} the bundled sample, a short dialogue.`))
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .addOption(idempotencyKeyOption());
}

export function addListen(program: Command, run: Run): void {
  program
    .command("listen")
    .description("Forward a workspace's webhook events to a local receiver.")
    .addHelpText(
      "before",
      examples(
        "patchbay listen --forward-to http://localhost:3000/hooks",
        "patchbay listen --forward-to localhost:3000 --workspace acme --api-key $ADMIN_KEY",
      ),
    )
    .addOption(new Option("--forward-to <url>", "URL of the receiver.").makeOptionMandatory())
    .addOption(workspaceOption())
    .addOption(new Option("--json", "Print one JSON document per delivery."))
    .addOption(urlOption())
    .addOption(adminKeyOption())
    .action(async (options: ListenOptions) => {
      await run.interruptibly(() => listen(options, run.terminal, run.signal));
    });
}
