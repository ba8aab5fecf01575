// Prints results: a table or rows for people, exactly one JSON document for programs, or a file written atomically.
import { constants, type Stats } from "node:fs";
import { access, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import { decodeUtf8 } from "../lib/text/utf8.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "./terminal.ts";

const GAP = "  ";
const NUMBER = /^-?\d+(\.\d+)?$/u;

/** Columns are as wide as their widest cell, numbers are right-aligned. Cells contain foreign text: one line each, without control characters. */
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

/** `name  text` for each fact; facts without text are skipped. */
export function formatFields(rows: readonly (readonly [name: string, text: string | null])[]): string {
  const visibleRows = rows.flatMap(([name, text]) => (text === null ? [] : [[name, oneLine(text)] as const]));
  const width = Math.max(...visibleRows.map(([name]) => name.length));
  return visibleRows.map(([name, text]) => `${name.padEnd(width)}${GAP}${text}`.trimEnd() + "\n").join("");
}

export function printJson(terminal: Terminal, document: unknown, output?: string): Promise<void> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return output === undefined ? write(terminal.stdout, text) : printResult(terminal, text, output);
}

/** Writes a result to the file of `-o`, else to stdout; control characters are removed on a terminal. */
export async function printResult(terminal: Terminal, text: string, output: string | undefined): Promise<void> {
  if (output === undefined)
    await write(terminal.stdout, terminal.stdout.isTTY === true ? stripControlCharacters(text) : text);
  else await writeResult(resolve(terminal.cwd, output), text, terminal);
}

/** The same for any content: unchanged bytes, except that a terminal shows only text. */
export async function printBytes(terminal: Terminal, bytes: Uint8Array, output: string | undefined): Promise<void> {
  if (output !== undefined) return writeResult(resolve(terminal.cwd, output), bytes, terminal);
  if (terminal.stdout.isTTY !== true) return write(terminal.stdout, bytes);
  const text = decodeUtf8(bytes);
  if (text !== null && !text.includes("\0")) return write(terminal.stdout, stripControlCharacters(text));
  await printLine(terminal, `not shown: ${bytes.length} bytes of binary data; write them to a file: -o FILE`);
}

/** Checked before the request: a paid result must not be lost because it cannot be written. */
export async function requireWritable(output: string | undefined, terminal: Terminal): Promise<void> {
  if (output === undefined) return;
  const path = resolve(terminal.cwd, output);
  const place = await placeOf(path);
  const formatFields = await factsOf(path);
  if (formatFields?.isDirectory() === true) throw unwritable(path, "it is a directory");
  try {
    await access(isNoFile(formatFields) ? path : dirname(place), constants.W_OK);
  } catch (error) {
    throw unwritable(path, reasonOf(place, error));
  }
}

async function writeResult(path: string, text: string | Uint8Array, terminal: Terminal): Promise<void> {
  await writeAtomically(path, text);
  await printLine(terminal, `wrote ${path}`);
}

/** Atomic: a reader never sees a partial file. A symbolic link, or a special file such as /dev/null or a pipe, is not replaced. */
export async function writeAtomically(path: string, text: string | Uint8Array): Promise<void> {
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
}

/** The file that a path resolves to, even if it does not exist yet. */
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

function isNoFile(formatFields: Stats | null): boolean {
  return formatFields !== null && !formatFields.isFile() && !formatFields.isDirectory();
}

function unwritable(path: string, reason: string): CliError {
  return new CliError(EXIT.usage, `${path} cannot be written: ${reason}.`, {
    hints: ["create its directory, or write elsewhere"],
  });
}

function reasonOf(place: string, error: unknown): string {
  const code = errorCode(error);
  return code === "ENOENT" ? `there is no directory ${dirname(place)}` : (code ?? "for no reason given");
}

function isBlankOrNumber(text: string): boolean {
  return text === "" || text === "-" || NUMBER.test(text);
}

function oneLine(text: string): string {
  return stripControlCharacters(text).replaceAll(/\s+/gu, " ");
}
