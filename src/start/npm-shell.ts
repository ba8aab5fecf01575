// Ends the process together with the shell through which npm started it. npm sends SIGTERM to that shell, which exits without forwarding it (npm 11, dash), and
// the process would continue without a parent to stop it.
import { setInterval } from "node:timers/promises";

const LOOK_MS = 250;

/**
 * Whether npm runs this process in the foreground of a script; `script` is its `npm_lifecycle_script`. A process that a script starts in the background, or
 * through another program, is meant to outlive its shell.
 */
export function isForegroundScript(script: string | undefined): boolean {
  if (script === undefined) return false;
  const single = script.replaceAll("&&", " ");
  return /patchbay|src\/main\.ts/u.test(single) && !/[&;|]|\b(?:nohup|setsid|disown)\b/u.test(single);
}

/** Resolves when the parent is no longer `shell`. Does not keep the process alive. On Windows a process keeps the id of a dead parent. */
export async function untilOrphaned(shell: number, parent: () => number = () => process.ppid): Promise<void> {
  for await (const _ of setInterval(LOOK_MS, undefined, { ref: false })) if (parent() !== shell) return;
}
