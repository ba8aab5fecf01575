// Shows the progress of a pull on stderr: a bar on a terminal, elsewhere a line each tenth.
import type { Terminal } from "../../cli/terminal.ts";
import { stripControlCharacters } from "../../cli/terminal.ts";
import { megabytes } from "../../local-models/megabytes.ts";
import type { PullProgress } from "../../local-models/pull-model.ts";

export interface ProgressDisplay {
  readonly show: (progress: PullProgress) => void;
  readonly clear: () => void;
}

const WIDTH = 24;
const REDRAW_MS = 100;
const STEPS = 10;

export function pullProgress(terminal: Terminal, name: string): ProgressDisplay {
  return terminal.stderr.isTTY === true ? bar(terminal, name) : lines(terminal, name);
}

function bar({ stderr }: Terminal, name: string): ProgressDisplay {
  let drawnAt = -REDRAW_MS;
  let phase = "";
  return {
    show: (progress) => {
      const now = performance.now();
      if (progress.phase === phase && now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      phase = progress.phase;
      stderr.write(`\r\u001b[K${name} ${textOf(progress, drawBar(progress))}`);
    },
    clear: () => void stderr.write("\r\u001b[K"),
  };
}

function lines({ stderr }: Terminal, name: string): ProgressDisplay {
  let printed = "";
  return {
    show: (progress) => {
      const { phase, bytes, totalBytes } = progress;
      const step = totalBytes === 0 ? 0 : Math.floor((bytes / totalBytes) * STEPS);
      const mark = hasSteps(phase) ? `${phase} ${step}` : `${phase} ${progress.message ?? ""}`;
      if (mark === printed) return;
      printed = mark;
      stderr.write(`${name}: ${textOf(progress, "")}\n`);
    },
    clear: () => undefined,
  };
}

function textOf({ phase, bytes, totalBytes, message }: PullProgress, picture: string): string {
  if (message !== undefined) return `${phase}: ${stripControlCharacters(message)}`;
  if (!hasSteps(phase)) return `${phase}…`;
  const percent = totalBytes === 0 ? 0 : Math.floor((bytes / totalBytes) * 100);
  return `${phase} ${picture}${percent} %, ${megabytes(bytes)} of ${megabytes(totalBytes)}`;
}

/** What may take minutes. */
function hasSteps(phase: PullProgress["phase"]): boolean {
  return phase === "downloading" || phase === "unpacking";
}

function drawBar({ bytes, totalBytes }: PullProgress): string {
  const filled = totalBytes === 0 ? 0 : Math.min(WIDTH, Math.round((bytes / totalBytes) * WIDTH));
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] `;
}
