// The commands in the order of the help, each with the module that makes it. Only the one that is called is loaded: all of them and what
// they stand on take longer to load than most take to answer.
import type { Command } from "commander";
import type { Run } from "./command-kit.ts";
import type { Operations } from "./operations-commands.ts";
import type { Processes } from "./process-commands.ts";

export interface Behind extends Processes {
  readonly operations: Operations;
}

export interface CommandModule {
  /** Of the commands that it adds to the program. */
  readonly names: readonly string[];
  readonly add: (program: Command, run: Run, behind: Behind) => Promise<void>;
}

export const COMMANDS: readonly CommandModule[] = [
  { names: ["init"], add: async (program, run) => (await import("./init.ts")).addInit(program, run) },
  {
    names: ["up"],
    add: async (program, run, { up }) => (await import("./process-commands.ts")).addUp(program, run, up),
  },
  {
    names: ["worker"],
    add: async (program, run, { work }) => (await import("./process-commands.ts")).addWorker(program, run, work),
  },
  {
    names: ["transcribe"],
    add: async (program, run) => (await import("./client-commands.ts")).addTranscribe(program, run),
  },
  {
    names: ["translate"],
    add: async (program, run) => (await import("./client-commands.ts")).addTranslate(program, run),
  },
  { names: ["chat"], add: async (program, run) => (await import("./chat-commands.ts")).addChat(program, run) },
  { names: ["jobs"], add: async (program, run) => (await import("./jobs-commands.ts")).addJobs(program, run) },
  { names: ["listen"], add: async (program, run) => (await import("./client-commands.ts")).addListen(program, run) },
  { names: ["mcp"], add: async (program, run) => (await import("./mcp-command.ts")).addMcp(program, run) },
  {
    names: ["webhooks"],
    add: async (program, run) => (await import("./webhooks-commands.ts")).addWebhooks(program, run),
  },
  {
    names: ["requests"],
    add: async (program, run) => (await import("./requests-commands.ts")).addRequests(program, run),
  },
  { names: ["usage"], add: async (program, run) => (await import("./admin-commands.ts")).addUsage(program, run) },
  { names: ["keys"], add: async (program, run) => (await import("./admin-commands.ts")).addKeys(program, run) },
  {
    names: ["audio-url"],
    add: async (program, run) => (await import("./audio-url-commands.ts")).addAudioUrl(program, run),
  },
  {
    names: ["providers"],
    add: async (program, run) => (await import("./providers-commands.ts")).addProviders(program, run),
  },
  {
    names: ["purposes"],
    add: async (program, run) => (await import("./purposes-commands.ts")).addPurposes(program, run),
  },
  { names: ["api"], add: async (program, run) => (await import("./api-commands.ts")).addApi(program, run) },
  {
    names: ["simulate"],
    add: async (program, run) => (await import("./simulate-commands.ts")).addSimulate(program, run),
  },
  { names: ["config"], add: async (program, run) => (await import("./config-commands.ts")).addConfig(program, run) },
  {
    names: ["route", "console", "apply", "doctor", "down", "backup", "restore", "migrate-storage", "audit", "secrets"],
    add: async (program, run, { operations }) =>
      (await import("./operations-commands.ts")).addOperations(program, run, operations),
  },
  // Its scripts say what all the others are, so that it cannot do without them.
  { names: [], add: async (program, run) => (await import("./completion.ts")).addCompletion(program, run) },
];

/** Those that a command line may need: all of them where it names none, as when it asks for help. */
export function commandsFor(argv: readonly string[]): readonly CommandModule[] {
  const called = argv.find((word) => !word.startsWith("-"));
  if (called === undefined && argv.includes("--version")) return [];
  const named = COMMANDS.filter(({ names }) => called !== undefined && names.includes(called));
  return named.length > 0 ? named : COMMANDS;
}
