// Declares `patchbay transcribe`, `translate` and `listen`, the commands that call a gateway: their options and help.
import { type Command, InvalidArgumentError, Option } from "commander";
import { RESPONSE_FORMATS } from "../../contract/transcription/transcription-fields.ts";
import {
  adminKeyOption,
  apiKeyOption,
  helpFooter,
  idempotencyKeyOption,
  outputOption,
  type Run,
  urlOption,
  workspaceOption,
} from "../command-kit.ts";
import { TRANSCRIBE_FILES, TRANSLATE_FILES } from "./batch/batch-task.ts";
import { type BatchOptions, isBatch, transcribeFiles } from "./batch/transcribe-files.ts";
import { listen, type ListenOptions } from "./listen.ts";
import { transcribe, translate } from "./transcribe.ts";
import { addFieldOptions } from "./transcription-options.ts";

export function addTranscribe(program: Command, run: Run): void {
  const command = program
    .command("transcribe")
    .description("Transcribe recordings with a running gateway: one to stdout or a file, several into a directory.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay transcribe --sample",
        "patchbay transcribe call.mp3",
        "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
        "patchbay transcribe call.mp3 --keyterm Patchbay --keyterm diarization --json",
        "ffmpeg -i talk.mov -f wav - | patchbay transcribe -",
        "patchbay transcribe monday/ tuesday/ interview.mp3 --out-dir transcripts --format srt",
        "patchbay transcribe archive/ --out-dir transcripts --jobs",
      ),
    );
  addFieldOptions(jobsOption(batchOptions(audioOptions(command, "Transcribe", SEVERAL_FILES), "transcribe"))).action(
    async (files: readonly string[], options: BatchOptions) => {
      await run.interruptibly(async () => {
        const [file] = files;
        if (isBatch(files, options)) await transcribeFiles(TRANSCRIBE_FILES, files, options, run.terminal, run.signal);
        else await transcribe(file, options, run.terminal, run.signal);
      });
    },
  );
}

const SEVERAL_FILES: ArgumentText = ["[file...]", "Audio files, folders, https:// URLs, or `-` for stdin."];

function jobsOption(command: Command): Command {
  return command.addOption(
    new Option("--jobs", "With --out-dir, submit durable jobs instead of requests, and wait for them."),
  );
}

function batchOptions(command: Command, verb: "transcribe" | "translate"): Command {
  return command
    .addOption(new Option("--out-dir <directory>", "Write a file for each recording into this directory."))
    .addOption(new Option("--force", `With --out-dir, ${verb} again what has an output, and replace it.`))
    .addOption(
      new Option(
        "--concurrency <n>",
        "With --out-dir, number of files sent at once, at most 64 (default: 4).",
      ).argParser(parseConcurrency),
    );
}

export function addTranslate(program: Command, run: Run): void {
  const command = program
    .command("translate")
    .description(
      "Translate speech to text with a running gateway (default: into English): one to stdout or a file, several into a directory.",
    )
    .addHelpText(
      "after",
      helpFooter(
        "patchbay translate gespraech.mp3",
        "patchbay translate call.mp3 --to-language de --format vtt -o call.de.vtt",
        "patchbay translate https://media.acme.example/call.mp3 --json",
        "patchbay translate monday/ tuesday/ --out-dir translations",
      ),
    );
  addFieldOptions(batchOptions(audioOptions(command, "Translate", SEVERAL_FILES), "translate"), "translation").action(
    async (files: readonly string[], options: BatchOptions) => {
      await run.interruptibly(async () => {
        const [file] = files;
        if (isBatch(files, options)) await transcribeFiles(TRANSLATE_FILES, files, options, run.terminal, run.signal);
        else await translate(file, options, run.terminal, run.signal);
      });
    },
  );
}

type ArgumentText = readonly [name: string, description: string];

const ONE_FILE: ArgumentText = ["[file]", "Audio file, an https:// URL, or `-` for stdin."];

function audioOptions(command: Command, verb: string, argument = ONE_FILE): Command {
  return sendingOptions(command, verb, argument)
    .addOption(new Option("--json", "Print the whole response as one JSON document."))
    .addOption(new Option("--format <format>", "Print the result in this format.").choices(RESPONSE_FORMATS))
    .addOption(outputOption());
}

/** Options of every command that sends audio. */
export function sendingOptions(command: Command, verb: string, argument = ONE_FILE): Command {
  return command
    .argument(...argument)
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
      "after",
      helpFooter(
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

function parseConcurrency(text: string): number {
  const count = /^\d{1,2}$/u.test(text) ? Number(text) : 0;
  if (count < 1 || count > 64) throw new InvalidArgumentError("It must be a number from 1 to 64.");
  return count;
}
