// Starts the embedded server under a guard process, which stops it when the gateway's end of a pipe closes. So a gateway that is killed with
// SIGKILL leaves no server behind.
import { type ChildProcess, spawn } from "node:child_process";
import type { Account } from "./account.ts";
import { identityOf } from "./programs.ts";

/** Time for a fast shutdown. An immediate one follows, which leaves recovery to the next start. */
const FAST_SHUTDOWN_SECONDS = 10;

/**
 * A shell needs 1 MB where a Node.js process needs 40. One shell waits for the server and exits with its code, another waits for the pipe. If
 * only the first is killed, the second still stops the server.
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

/** Closing `stdin`, the pipe, stops the server. `stderr` is the server's log. */
export function spawnGuarded(program: string, args: readonly string[], account: Account | null): ChildProcess {
  const options = {
    cwd: "/",
    env: { LC_ALL: "C", PGTZ: "UTC" },
    stdio: ["pipe", "ignore", "pipe"] as ["pipe", "ignore", "pipe"],
    // A process group of its own: Ctrl-C in the terminal reaches only the gateway, which finishes its requests first.
    detached: true,
    ...identityOf(account),
  };
  const child =
    process.platform === "win32"
      ? spawn(program, [...args], { ...options, detached: false })
      : spawn("/bin/sh", ["-c", SCRIPT, "patchbay-database-guard", program, ...args], options);
  // A guard that was killed leaves a broken pipe, which is not an error of the gateway.
  child.stdin?.on("error", () => undefined);
  return child;
}
