// Input and output of a command: data on stdout, everything else on stderr; colour only on a terminal without NO_COLOR.
import { showCommands } from "./shown-text.ts";
import type { Readable, Writable } from "node:stream";

export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** How commands are called here (`invocation.ts`). Default: `patchbay`. */
  readonly command?: string | undefined;
}

export class CliError extends Error {
  readonly exitCode: number;
  /** Printed below the message, one line each. */
  readonly hints: readonly string[];
  /** The document that `--json` prints instead of the result. */
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

/** Resolves when the text has left the process, so that it may exit. A closed reader (`| head`) is no error. */
export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  await writeTo(stream, text);
}

/** The same; false: the reader has closed, so an endless source must stop. */
export function writeTo(stream: Writable, text: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      const code = error !== null && error !== undefined && "code" in error ? error.code : undefined;
      if (error === null || error === undefined) resolve(true);
      // A stream that reported it once is destroyed.
      else if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") resolve(false);
      else reject(error);
    });
  });
}

/** Replaces the commands in a text by how they are called here. */
export function withCommandName({ command = "patchbay" }: Pick<Terminal, "command">, text: string): string {
  return showCommands(text, command);
}

/** Prints a line on stderr. It may quote a server. */
export function printLine(terminal: Terminal, line: string): Promise<void> {
  return write(terminal.stderr, `${stripControlCharacters(withCommandName(terminal, line))}\n`);
}

/**
 * Removes control characters from foreign text such as transcripts: on a terminal, control sequences would act, a lone carriage return would overwrite the line,
 * and bidirectional controls would reorder it.
 */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g,
    "",
  );
}

export function inRed(terminal: Terminal, text: string): string {
  const isColoured =
    terminal.stderr.isTTY === true && (terminal.env["NO_COLOR"] ?? "") === "" && terminal.env["TERM"] !== "dumb";
  return isColoured ? `\u001b[31m${text}\u001b[39m` : text;
}
