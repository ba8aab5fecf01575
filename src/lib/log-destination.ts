// Writes the log asynchronously, so that a stalled log collector never blocks the gateway. Lines that exceed the buffer are dropped and counted,
// and the count is logged once lines flow again. Exit does not wait for a stalled reader; pino's own destination would retry forever.
import { fstatSync, write, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

export interface LogDestination {
  write(line: string): void;
  /** Resolves when everything is written or the time is up. What remains then is dropped. */
  end(withinMs: number): Promise<void>;
}

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Lines are written in batches, because a write costs more than a line. No line waits longer than this. */
const WRITE_BYTES = 8_192;
const WRITE_EVERY_MS = 100;
const WARN = 40;
const LOOK_MS = 20;
/** For a process that exits without calling `end`: the last lines say why. */
const LAST_WORDS_MS = 1_000;

export function logDestination(fileDescriptor: number): LogDestination {
  takeNoThread(fileDescriptor);
  let lines: string[] = [];
  let lineBytes = 0;
  /** Removed from `lines` and not completely written yet. */
  let leaving: Buffer | null = null;
  let isWriting = false;
  let isOver = false;
  let lost = 0;
  let timer: NodeJS.Timeout | null = null;

  const isEmpty = () => leaving === null && lines.length === 0;
  const take = (line: string): void => {
    lines.push(line);
    lineBytes += Buffer.byteLength(line);
  };
  const next = (): Buffer | null => {
    if (leaving === null && lines.length > 0) {
      leaving = Buffer.from(lines.join(""));
      lines = [];
      lineBytes = 0;
    }
    return leaving;
  };
  const wrote = (bytes: Buffer, count: number): void => {
    leaving = count === bytes.length ? null : bytes.subarray(count);
    if (!isEmpty() || lost === 0) return;
    take(`${JSON.stringify({ level: WARN, time: new Date().toISOString(), event: "log_lines_lost", lost })}\n`);
    lost = 0;
  };
  const giveUp = (): void => {
    isOver = true;
    leaving = null;
    lines = [];
  };
  const pump = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const bytes = isWriting ? null : next();
    if (bytes === null) return;
    isWriting = true;
    write(fileDescriptor, bytes, 0, bytes.length, null, (error, count) => {
      isWriting = false;
      if (error === null) {
        wrote(bytes, count);
        if (leaving !== null) pump();
        else if (!isEmpty()) pumpSoon();
      } else if (error.code === "EPIPE") giveUp();
      else if (error.code === "EAGAIN") pumpSoon();
      // For example a full disk: it is retried with the next line.
    });
  };
  const pumpSoon = (): void => {
    if (leaving === null && lineBytes >= WRITE_BYTES) pump();
    else timer ??= setTimeout(pump, WRITE_EVERY_MS).unref();
  };
  const sayLastWords = (): void => {
    const lastMs = performance.now() + LAST_WORDS_MS;
    // A write that is in progress on another thread is completed by it.
    if (isWriting) leaving = null;
    for (let bytes = next(); bytes !== null && performance.now() < lastMs; bytes = next()) {
      try {
        wrote(bytes, writeSync(fileDescriptor, bytes));
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
      }
    }
  };
  process.once("exit", sayLastWords);

  return {
    write: (line) => {
      if (isOver) return;
      if (lineBytes + (leaving?.length ?? 0) + line.length > MAX_WAITING_BYTES) lost += 1;
      else take(line);
      if (!isWriting) pumpSoon();
    },
    end: async (withinMs) => {
      for (const lastMs = performance.now() + withinMs; !isEmpty() && performance.now() < lastMs; await wait(LOOK_MS))
        pump();
      giveUp();
      process.off("exit", sayLastWords);
    },
  };
}

/** A write to a pipe or socket without a reader would block a libuv thread, and with it the exit of the process. */
function takeNoThread(fileDescriptor: number): void {
  const kind = fstatSync(fileDescriptor);
  if (!kind.isFIFO() && !kind.isSocket()) return;
  // Node.js sets a descriptor to non-blocking only behind its own streams.
  if (fileDescriptor === 1) void process.stdout;
  if (fileDescriptor === 2) void process.stderr;
}
