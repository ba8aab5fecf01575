// Upload progress bar, by bytes; shown on the stderr of a terminal only.
import type { Terminal } from "../terminal.ts";

export interface Progress {
  readonly onBytes: (sentBytes: number) => void;
  /** Clears the line, so that further output starts at its beginning. */
  readonly clear: () => void;
}

const WIDTH = 24;
const REDRAW_MS = 100;

/** `doing`: the activity shown once everything is sent. */
export function uploadProgress(terminal: Terminal, totalBytes: number, doing: string): Progress {
  if (terminal.stderr.isTTY !== true) return { onBytes: () => undefined, clear: () => undefined };
  let drawnAt = 0;
  let isDrawn = false;
  return {
    onBytes(sentBytes) {
      const now = performance.now();
      const isDone = sentBytes >= totalBytes;
      if (!isDone && now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      isDrawn = true;
      terminal.stderr.write(`\r\u001b[K${isDone ? `${doing}…` : bar(sentBytes, totalBytes)}`);
    },
    clear() {
      if (isDrawn) terminal.stderr.write("\r\u001b[K");
      isDrawn = false;
    },
  };
}

function bar(sentBytes: number, totalBytes: number): string {
  const filled = Math.round((sentBytes / totalBytes) * WIDTH);
  return `uploading [${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${megabytes(sentBytes)} of ${megabytes(totalBytes)} MB`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
