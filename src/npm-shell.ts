// The shell between npm and this process. npm hands SIGTERM to that shell, which ends without passing it on (npm 11, dash); this process
// would go on without anyone to stop it. It ends with its shell instead.
import { setInterval } from "node:timers/promises";

const LOOK_MS = 250;

/**
 * Whether npm runs this process in the foreground of a script of its own: `script` is its `npm_lifecycle_script`. One that a script puts
 * into the background, or starts by way of another program, is to outlive its shell.
 */
export function isForegroundScript(script: string | undefined): boolean {
  if (script === undefined) return false;
  const single = script.replaceAll("&&", " ");
  return /patchbay|src\/main\.ts/u.test(single) && !/[&;|]|\b(?:nohup|setsid|disown)\b/u.test(single);
}

/** Resolves when this process has another parent than `shell`. Holds no process. On Windows a process keeps the id of a dead parent. */
export async function untilOrphaned(shell: number, parent: () => number = () => process.ppid): Promise<void> {
  for await (const _ of setInterval(LOOK_MS, undefined, { ref: false })) if (parent() !== shell) return;
}
