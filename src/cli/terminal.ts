// Where a command reads and writes: data on stdout, everything else on stderr; colour only on a terminal without NO_COLOR.
import { showCommands } from "./shown-text.ts";
import type { Readable, Writable } from "node:stream";

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** How our commands are called here (`invocation.ts`); not given: `patchbay`. */
  readonly command?: string | undefined;
}

export class CliError extends Error {
  readonly exitCode: number;
  /** What to print under the message, one line each. */
  readonly hints: readonly string[];
  /** The document `--json` prints in place of the result. */
  readonly document: unknown;

  constructor(
    exitCode: number,
    message: string,
    options: { readonly hints?: readonly string[]; readonly document?: unknown } = {},
  ) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
    this.hints = options.hints ?? [];
    this.document = options.document ?? { error: { code: null, message } };
  }
}

/** Resolves when the text has left the process: what follows may end it. A reader that went away (`| head`) is no error. */
export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  await writeTo(stream, text);
}

/** The same; false: the reader went away, and what has no end is not read on. */
export function writeTo(stream: Writable, text: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const code = error !== null && error !== undefined && "code" in error ? error.code : undefined;
      if (error === null || error === undefined) resolve(true);
      else if (code === "EPIPE") resolve(false);
      else reject(error);
    });
  });
}

/** A text of ours with its commands as they are called here. */
export function shown({ command = "patchbay" }: Pick<Terminal, "command">, text: string): string {
  return showCommands(text, command);
}

/** On stderr. Lines may quote what a server sent. */
export function say(terminal: Terminal, line: string): Promise<void> {
  return write(terminal.stderr, `${visible(shown(terminal, line))}\n`);
}

/**
 * Transcripts and messages are other people's text: on a terminal its control sequences would act, a carriage return alone would
 * write over what stands in the line, and characters that turn the direction of writing would reorder it.
 */
export function visible(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g,
    "",
  );
}

export function red(terminal: Terminal, text: string): string {
  const isColoured =
    terminal.stderr.isTTY === true && (terminal.env["NO_COLOR"] ?? "") === "" && terminal.env["TERM"] !== "dumb";
  return isColoured ? `\u001b[31m${text}\u001b[39m` : text;
}
