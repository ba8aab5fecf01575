// A finding of `patchbay doctor`: one line about one subject, and how to fix it.

export const CHECKS = [
  "configuration",
  "runtime",
  "data_dir",
  "secrets",
  "disk",
  "storage",
  "migrations",
  "clock",
  "webhooks",
  "alerts",
  "objects",
  "decoder",
  "ports",
  "public_url",
  "connections",
  "model_life",
  "routes",
  "retirements",
  "dns",
] as const;
export type Check = (typeof CHECKS)[number];

export interface Finding {
  readonly check: Check;
  readonly level: "ok" | "warn" | "fail";
  readonly message: string;
  readonly fix: string | null;
}

export function ok(check: Check, message: string): Finding {
  return { check, level: "ok", message, fix: null };
}

export function warn(check: Check, message: string, fix: string): Finding {
  return { check, level: "warn", message, fix };
}

export function fail(check: Check, message: string, fix: string): Finding {
  return { check, level: "fail", message, fix };
}

/**
 * The error's message without its stack or cause. It may contain addresses and user names, but no passwords. Without a final full stop,
 * because callers put it inside a sentence.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message.replace(/\.$/u, "") : "unknown";
}
