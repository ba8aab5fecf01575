// How results are written: a table or rows for people, exactly one JSON document for programs, a file all or nothing.
import { constants, type Stats } from "node:fs";
import { access, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { decodeUtf8 } from "../lib/text/utf8.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, say, type Terminal, visible, write } from "./terminal.ts";

const GAP = "  ";
const NUMBER = /^-?\d+(\.\d+)?$/u;

/** Columns as wide as their widest cell, figures to the right. Cells are other people's text: one line each, nothing that acts. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => head.map((_name, column) => oneLine(row[column] ?? "")));
  const widths = head.map((name, column) => Math.max(name.length, ...cells.map((row) => (row[column] ?? "").length)));
  const isFigure = head.map(
    (_name, column) =>
      cells.some((row) => NUMBER.test(row[column] ?? "")) && cells.every((row) => isBlankOrNumber(row[column] ?? "")),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        isFigure[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join(GAP)
      .trimEnd();
  return [head, ...cells].map((row) => `${line(row)}\n`).join("");
}

/** `name  text` for each fact; those without text are left out. */
export function facts(rows: readonly (readonly [name: string, text: string | null])[]): string {
  const shown = rows.flatMap(([name, text]) => (text === null ? [] : [[name, oneLine(text)] as const]));
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => `${name.padEnd(width)}${GAP}${text}`.trimEnd() + "\n").join("");
}

export function printJson(terminal: Terminal, document: unknown, output?: string): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return output === undefined ? write(terminal.stdout, text) : printResult(terminal, text, output);
}

/** A result in the file that `-o` names, else on stdout; on a terminal without what would act there. */
export async function printResult(terminal: Terminal, text: string, output: string | undefined): Promise<void> {
  if (output === undefined) await write(terminal.stdout, terminal.stdout.isTTY === true ? visible(text) : text);
  else await writeResult(resolve(terminal.cwd, output), text, terminal);
}

/** The same of whatever a result is: byte for byte, but that a terminal is shown text alone. */
export async function printBytes(terminal: Terminal, bytes: Uint8Array, output: string | undefined): Promise<void> {
  if (output !== undefined) return writeResult(resolve(terminal.cwd, output), bytes, terminal);
  if (terminal.stdout.isTTY !== true) return write(terminal.stdout, bytes);
  const text = decodeUtf8(bytes);
  if (text !== null && !text.includes("\0")) return write(terminal.stdout, visible(text));
  await say(terminal, `not shown: ${bytes.length} bytes that are no text; to have them in a file: -o FILE`);
}

/** Before anything is asked for: what was paid for would be lost because it cannot be kept. */
export async function requireWritable(output: string | undefined, terminal: Terminal): Promise<void> {
  if (output === undefined) return;
  const path = resolve(terminal.cwd, output);
  const place = await placeOf(path);
  const facts = await factsOf(path);
  if (facts?.isDirectory() === true) throw unwritable(path, "it is a directory");
  try {
    await access(isNoFile(facts) ? path : dirname(place), constants.W_OK);
  } catch (error) {
    throw unwritable(path, reasonOf(place, error));
  }
}

/**
 * All or nothing: a reader never sees half a file. A name that leads to another, or to what is no file, such as /dev/null or a pipe,
 * stays what it is.
 */
async function writeResult(path: string, text: string | Uint8Array, terminal: Terminal): Promise<void> {
  const place = await placeOf(path);
  const draft = `${place}.${process.pid}.part`;
  try {
    if (isNoFile(await factsOf(path))) await writeFile(path, text);
    else {
      await writeFile(draft, text);
      await rename(draft, place);
    }
  } catch (error) {
    await rm(draft, { force: true });
    throw unwritable(path, reasonOf(place, error));
  }
  await say(terminal, `wrote ${path}`);
}

/** The file that a name leads to, be it not there yet. */
async function placeOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const target = errorCode(error) === "ENOENT" ? await readlink(path).catch(() => null) : null;
    return target === null ? path : placeOf(resolve(dirname(path), target));
  }
}

function factsOf(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

function isNoFile(facts: Stats | null): boolean {
  return facts !== null && !facts.isFile() && !facts.isDirectory();
}

function unwritable(path: string, reason: string): CliError {
  return new CliError(EXIT.usage, `${path} cannot be written: ${reason}.`);
}

function reasonOf(place: string, error: unknown): string {
  const code = errorCode(error);
  return code === "ENOENT" ? `there is no directory ${dirname(place)}` : (code ?? "for no reason given");
}

function isBlankOrNumber(text: string): boolean {
  return text === "" || text === "-" || NUMBER.test(text);
}

function oneLine(text: string): string {
  return visible(text).replaceAll(/\s+/gu, " ");
}
