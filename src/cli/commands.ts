// The commands in the order of the help, which groups them, each with the module that creates it. Only the module of the called command is loaded: loading all of them takes
// longer than most commands run.
import type { Command } from "commander";
import type { Run } from "./command-kit.ts";
import type { CommandName } from "./command-names.ts";
import type { Operations } from "./operate/operations-commands.ts";
import type { Processes } from "./operate/process-commands.ts";

export interface Behind extends Processes {
  readonly operations: Operations;
}

type Add = (program: Command, run: Run, behind: Behind) => void;

export interface CommandModule {
  /** Commands that the module adds to the program. */
  readonly names: readonly CommandName[];
  readonly load: () => Promise<Add>;
}

export const COMMANDS: readonly CommandModule[] = [
  { names: ["transcribe"], load: async () => (await import("./use/client-commands.ts")).addTranscribe },
  { names: ["translate"], load: async () => (await import("./use/client-commands.ts")).addTranslate },
  { names: ["chat"], load: async () => (await import("./use/chat-commands.ts")).addChat },
  { names: ["jobs"], load: async () => (await import("./use/jobs-commands.ts")).addJobs },
  { names: ["listen"], load: async () => (await import("./use/client-commands.ts")).addListen },
  { names: ["mcp"], load: async () => (await import("./use/mcp-command.ts")).addMcp },
  { names: ["requests"], load: async () => (await import("./inspect/requests-commands.ts")).addRequests },
  { names: ["usage"], load: async () => (await import("./administer/admin-commands.ts")).addUsage },
  { names: ["purposes"], load: async () => (await import("./administer/purposes-commands.ts")).addPurposes },
  { names: ["audio-url"], load: async () => (await import("./inspect/audio-url-commands.ts")).addAudioUrl },
  { names: ["keys"], load: async () => (await import("./administer/admin-commands.ts")).addKeys },
  { names: ["webhooks"], load: async () => (await import("./administer/webhooks-commands.ts")).addWebhooks },
  { names: ["providers"], load: async () => (await import("./administer/providers-commands.ts")).addProviders },
  { names: ["simulate"], load: async () => (await import("./administer/simulate-commands.ts")).addSimulate },
  { names: ["api"], load: async () => (await import("./administer/api-commands.ts")).addApi },
  { names: ["init"], load: async () => (await import("./operate/init/init.ts")).addInit },
  { names: ["up"], load: async () => (await import("./operate/process-commands.ts")).addUp },
  { names: ["worker"], load: async () => (await import("./operate/process-commands.ts")).addWorker },
  { names: ["config"], load: async () => (await import("./operate/config-commands.ts")).addConfig },
  { names: ["models"], load: async () => (await import("./operate/models-commands.ts")).addModels },
  {
    names: ["verify-transcript"],
    load: async () => (await import("./operate/verify-transcript-command.ts")).addVerifyTranscript,
  },
  { names: ["alerts"], load: async () => (await import("./operate/alerts-commands.ts")).addAlerts },
  {
    names: ["route", "console", "apply", "doctor", "down", "backup", "restore", "migrate-storage", "audit", "secrets"],
    load: async () => (await import("./operate/operations-commands.ts")).addOperations,
  },
  // The completion scripts list all commands, so every module is loaded for them.
  { names: [], load: async () => (await import("./operate/completion.ts")).addCompletion },
];

/** Modules that a command line may need: all if it names no command, as for the help. */
export function commandsFor(argv: readonly string[]): readonly CommandModule[] {
  const commandName = argv.find((word) => !word.startsWith("-"));
  if (commandName === undefined && argv.includes("--version")) return [];
  const matches = COMMANDS.filter(({ names }) => names.some((name) => name === commandName));
  return matches.length > 0 ? matches : COMMANDS;
}
