// The parent of the embedded server: stops it when the gateway's end of a pipe closes, so that a gateway killed with SIGKILL leaves no server behind.
import { type ChildProcess, spawn } from "node:child_process";
import type { Account } from "./account.ts";
import { identityOf } from "./programs.ts";

/** A fast shutdown is given so long, then an immediate one, which leaves recovery to the next start. */
const FAST_SHUTDOWN_SECONDS = 10;

/**
 * A shell takes 1 MB where a Node.js process takes 40. It waits for the server and exits with its code; a second one waits for the pipe. Should
 * only the first be killed, the second still ends the server.
 */
const SCRIPT = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
{
  read -r line <&3
  kill -INT "$server"
  sleep ${FAST_SHUTDOWN_SECONDS} 3<&-
  kill -QUIT "$server"
} >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill "$watcher"
exit "$code"
`;

/** `stdin` is the pipe: end it to stop the server. `stderr` is the server's log. */
export function spawnGuarded(program: string, args: readonly string[], account: Account | null): ChildProcess {
  const options = {
    cwd: "/",
    env: { LC_ALL: "C", PGTZ: "UTC" },
    stdio: ["pipe", "ignore", "pipe"] as ["pipe", "ignore", "pipe"],
    // A group of its own: Ctrl-C in the terminal reaches the gateway alone, which lets its requests finish first.
    detached: true,
    ...identityOf(account),
  };
  const child =
    process.platform === "win32"
      ? spawn(program, [...args], { ...options, detached: false })
      : spawn("/bin/sh", ["-c", SCRIPT, "patchbay-database-guard", program, ...args], options);
  // A guard that was killed leaves a broken pipe, which is no error of ours.
  child.stdin?.on("error", () => undefined);
  return child;
}
