// The embedded server's log: kept in the data directory, rotated at a size, its warnings and errors passed to the gateway's own log.
import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";

export const LOG_FILE = "postgres.log";
const MAX_BYTES = 10 * 1024 * 1024;
const REMEMBERED_LINES = 20;

export interface ServerLog {
  readonly read: (stderr: Readable) => void;
  /** The newest lines, for the message of a start that failed. */
  readonly recent: () => readonly string[];
  readonly close: () => void;
}

/** `onProblem` gets each line of level WARNING or worse, without its time. */
export function openServerLog(path: string, onProblem: (level: string, message: string) => void): ServerLog {
  let file: WriteStream | null = null;
  let bytes = 0;
  const recent: string[] = [];
  const open = (): WriteStream => {
    const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
    // A full disk must not end the gateway; the server reports it as its own error.
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
      // The next line opens the same file again.
    }
  };
  return {
    read: (stderr) => {
      createInterface({ input: stderr }).on("line", (line) => {
        append(line);
        const [, level, message] = PROBLEM.exec(line) ?? [];
        if (level !== undefined && message !== undefined && !USUAL.test(message)) onProblem(level, message);
      });
    },
    recent: () => [...recent],
    close: () => file?.end(),
  };
}

/** What a client is told that asks during a start or a stop. */
const USUAL = /^the database system is (?:starting up|shutting down|not yet accepting connections)/u;
const PROBLEM = /\] (WARNING|ERROR|FATAL|PANIC): {2}(.*)$/u;
