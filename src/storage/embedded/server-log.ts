// Writes the embedded server's log to a file in the data directory, rotates it by size, and forwards warnings and errors to the gateway's log.
import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";

export const LOG_FILE = "postgres.log";
const MAX_BYTES = 10 * 1024 * 1024;
const REMEMBERED_LINES = 20;

export interface ServerLog {
  readonly read: (stderr: Readable) => void;
  /** The newest lines, for the error message of a failed start. */
  readonly recent: () => readonly string[];
  readonly close: () => void;
}

/** `onProblem` receives each line of level WARNING or worse, without its time. */
export function openServerLog(path: string, onProblem: (level: string, message: string) => void): ServerLog {
  let file: WriteStream | null = null;
  let bytes = 0;
  const recent: string[] = [];
  const open = (): WriteStream => {
    const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
    // A full disk must not stop the gateway. The server reports it as its own error.
    stream.on("error", () => undefined);
    bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return stream;
  };
  const append = (line: string): void => {
    recent.push(line);
    if (recent.length > REMEMBERED_LINES) recent.shift();
    file ??= open();
    file.write(`${line}\n`);
    bytes += Buffer.byteLength(line) + 1;
    if (bytes <= MAX_BYTES) return;
    file.end();
    file = null;
    try {
      renameSync(path, `${path}.1`);
    } catch {
      // Ignored: the next line opens the same file again.
    }
  };
  return {
    read: (stderr) => {
      createInterface({ input: stderr }).on("line", (line) => {
        append(line);
        const [, level, message] = PROBLEM.exec(line) ?? [];
        if (level !== undefined && message !== undefined && !EXPECTED.test(message)) onProblem(level, message);
      });
    },
    recent: () => [...recent],
    close: () => file?.end(),
  };
}

/** Messages to clients that connect during a start or a stop. */
const EXPECTED = /^the database system is (?:starting up|shutting down|not yet accepting connections)/u;
const PROBLEM = /\] (WARNING|ERROR|FATAL|PANIC): {2}(.*)$/u;
