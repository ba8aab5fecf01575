// `patchbay completion bash|zsh|fish`: prints the command table as a shell script. It is generated, so it always matches `--help`.
import { Argument, type Command, type Option } from "commander";
import { helpFooter, type Run } from "../command-kit.ts";
import {
  bashScript,
  fishScript,
  zshScript,
  type CompletedOption,
  type CompletedCommand,
} from "./completion-scripts.ts";
import { write } from "../terminal.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

export function addCompletion(program: Command, run: Run): void {
  program
    .command("completion")
    .description("Print a shell completion script.")
    .addHelpText(
      "after",
      helpFooter(
        'eval "$(patchbay completion bash)"',
        "patchbay completion zsh > ~/.zfunc/_patchbay",
        "patchbay completion fish > ~/.config/fish/completions/patchbay.fish",
      ),
    )
    .addArgument(new Argument("<shell>", "The shell.").choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => write(run.terminal.stdout, SCRIPTS[shell](commandTable(program))));
}

function commandTable(command: Command, path = ""): readonly CompletedCommand[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const own: CompletedCommand = {
    path,
    words: [
      ...below.map((each) => ({ word: each.name(), description: firstSentence(each.description()) })),
      ...choices.map((word) => ({ word, description: "" })),
    ],
    aliases: below.flatMap((each) => each.aliases().map((alias) => ({ alias, word: each.name() }))),
    options: help.visibleOptions(command).map(completedOption),
  };
  const isHelp = (each: Command): boolean => !command.commands.includes(each);
  const deeper = below
    .filter((each) => !isHelp(each))
    .flatMap((each) => commandTable(each, path === "" ? each.name() : `${path} ${each.name()}`));
  return [own, ...deeper];
}

function completedOption(option: Option): CompletedOption {
  return {
    names: [option.short, option.long].flatMap((name) => name ?? []),
    description: firstSentence(option.description),
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}

/** Shells show it next to the word, on one line; in zsh a colon ends the word. */
function firstSentence(text: string): string {
  const [sentence = ""] = text.replaceAll(/ \([^)]*\)/gu, "").split(/(?<=[.:;])\s/u);
  return sentence.replaceAll(/[`\\:]/gu, "").replace(/[.;\s]+$/u, "");
}
