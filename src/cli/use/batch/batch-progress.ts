// Shows the progress of several files: a line for each that has ended, and on a terminal a last line with those in progress [cli.batch-progress].
import { printLine, stripControlCharacters, type Terminal } from "../../terminal.ts";

export interface BatchProgress {
  /** What happens to a file in progress: "45 %", "transcribing". */
  readonly show: (label: string, state: string) => void;
  /** A file has ended. */
  readonly end: (label: string, lines: readonly string[]) => Promise<void>;
  /** A line about something else. */
  readonly note: (line: string) => Promise<void>;
}

const REDRAW_MS = 100;
const USUAL_COLUMNS = 80;

/** `total`: number of files. */
export function batchProgress(terminal: Terminal, total: number): BatchProgress {
  const isShown = terminal.stderr.isTTY === true;
  const states = new Map<string, string>();
  let ended = 0;
  let drawnAt = 0;
  const draw = (): void => {
    if (!isShown) return;
    drawnAt = performance.now();
    const files = [...states].map(([label, state]) => `${label} ${state}`).join(", ");
    terminal.stderr.write(`${CLEAR}${states.size === 0 ? "" : cut(`[${ended}/${total}] ${files}`, terminal)}`);
  };
  const print = async (lines: readonly string[]): Promise<void> => {
    if (isShown) terminal.stderr.write(CLEAR);
    for (const line of lines) await printLine(terminal, line);
    draw();
  };
  return {
    show(label, state) {
      const isNew = !states.has(label);
      states.set(label, state);
      if (isNew || performance.now() - drawnAt >= REDRAW_MS) draw();
    },
    async end(label, lines) {
      states.delete(label);
      ended += 1;
      await print(lines);
    },
    note: (line) => print([line]),
  };
}

const CLEAR = "\r\u001b[K";

/** A longer line would wrap, and only its last part could be cleared. */
function cut(text: string, { stderr }: Terminal): string {
  const columns = "columns" in stderr && typeof stderr.columns === "number" ? stderr.columns : USUAL_COLUMNS;
  const letters = Array.from(stripControlCharacters(text));
  return letters.length < columns ? letters.join("") : `${letters.slice(0, columns - 2).join("")}…`;
}
