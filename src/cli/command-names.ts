// Lists the names of all commands by the group of the help, so that error messages and texts can quote one without loading its module.

export const COMMAND_GROUPS = {
  Use: ["transcribe", "translate", "chat", "jobs", "listen", "mcp"],
  Inspect: ["requests", "usage", "purposes", "audio-url", "route", "console"],
  Administer: ["keys", "webhooks", "providers", "simulate", "api"],
  Operate: [
    "init",
    "up",
    "worker",
    "config",
    "models",
    "verify-transcript",
    "alerts",
    "apply",
    "doctor",
    "down",
    "backup",
    "restore",
    "migrate-storage",
    "audit",
    "secrets",
  ],
} as const;

export type CommandName = (typeof COMMAND_GROUPS)[keyof typeof COMMAND_GROUPS][number];

export const COMMAND_NAMES: readonly CommandName[] = Object.values(COMMAND_GROUPS).flat();

/** Heading of a command in the help. The commands of the shell and of the help itself belong to operation. */
export function groupOf(name: string): string {
  const groups = Object.entries(COMMAND_GROUPS);
  const found = groups.find(([, names]) => names.some((each) => each === name));
  return `${found?.[0] ?? "Operate"}:`;
}
