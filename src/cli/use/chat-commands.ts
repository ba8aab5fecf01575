// Declares the command `patchbay chat`: its options and help.
import type { Command } from "commander";
import { chat, type ChatOptions } from "./chat.ts";
import { addChatOptions } from "./chat-options.ts";
import {
  apiKeyOption,
  helpFooter,
  idempotencyKeyOption,
  jsonOption,
  outputOption,
  type Run,
  urlOption,
} from "../command-kit.ts";

export function addChat(program: Command, run: Run): void {
  const command = program
    .command("chat")
    .description("Send a message to a chat model through a running gateway and stream the answer.")
    .argument("[message...]", "The message. `-` is replaced by stdin, which is also read without a message.")
    .addHelpText(
      "after",
      helpFooter(
        'patchbay chat "Name three uses of a patch bay"',
        'patchbay chat --system "Answer in German" "What is a patch bay?"',
        'patchbay transcribe call.mp3 | patchbay chat "Sum this up in two sentences:" -',
        "patchbay chat --messages conversation.json --json",
        'patchbay chat --image board.png --schema parts.schema.json "Which parts are on it?"',
      ),
    )
    .addOption(jsonOption())
    .addOption(outputOption())
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .addOption(idempotencyKeyOption());
  addChatOptions(command).action(async (words: readonly string[], options: ChatOptions) => {
    await run.interruptibly(() => chat(words, options, run.terminal, run.signal));
  });
}
