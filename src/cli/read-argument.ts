// Reads the files, or stdin, that a command's options name, as text, bytes or JSON.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { errorCode } from "../lib/error-code.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal } from "./terminal.ts";

export async function readFileArgument(file: string, terminal: Terminal): Promise<Buffer> {
  const path = resolve(terminal.cwd, file);
  return readFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

export function unreadable(path: string, error: unknown): CliError {
  const isMissing = errorCode(error) === "ENOENT";
  const message = isMissing
    ? `There is no file ${path}.`
    : `${path} cannot be read (${errorCode(error) ?? "unknown"}).`;
  return new CliError(EXIT.usage, message, { hints: [isMissing ? "check the path" : "check its permissions"] });
}

/** `-` is stdin, unless it is a keyboard. */
export async function readBytesArgument(file: string, option: string, terminal: Terminal): Promise<Buffer> {
  if (file !== "-") return readFileArgument(file, terminal);
  if (terminal.stdin.isTTY === true)
    throw new CliError(EXIT.usage, `${option}: \`-\` reads stdin, which is the keyboard here.`, {
      hints: ["pipe it: patchbay … < FILE"],
    });
  return buffer(terminal.stdin);
}

export async function readTextArgument(file: string, option: string, terminal: Terminal): Promise<string> {
  return (await readBytesArgument(file, option, terminal)).toString("utf8");
}

export async function readObjectFile(file: string, option: string, terminal: Terminal): Promise<object> {
  const value = await readJsonFile(file, option, terminal);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new CliError(EXIT.usage, `${option} must hold a JSON object.`);
  return value;
}

export async function readJsonFile(file: string, option: string, terminal: Terminal): Promise<unknown> {
  const source = await readTextArgument(file, option, terminal);
  try {
    return JSON.parse(source);
  } catch {
    throw new CliError(EXIT.usage, `${option}: ${file === "-" ? "stdin" : file} is not JSON.`);
  }
}
