// Resolves the audio that a command names: a path, `-` for stdin, an https:// URL, or the bundled sample.
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { EXIT } from "../exit-codes.ts";
import { samplePath } from "../package-root.ts";
import { unreadable } from "../read-argument.ts";
import { CliError, type Terminal } from "../terminal.ts";

export type AudioArgument =
  | { readonly kind: "url"; readonly url: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly sizeBytes: number;
      readonly name: string;
      readonly dispose: () => Promise<void>;
    };

export async function findAudio(
  argument: string | undefined,
  sample: boolean,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<AudioArgument> {
  if (sample && argument !== undefined) throw new CliError(EXIT.usage, "Use either FILE or --sample, not both.");
  if (sample) return fileAt(samplePath());
  if (argument === undefined)
    throw new CliError(EXIT.usage, "No audio. Use a FILE, `-` for stdin, or --sample.", {
      hints: ["try: patchbay transcribe --sample"],
    });
  if (argument === "-") return spoolStdin(terminal, signal);
  return /^https?:\/\//i.test(argument) ? { kind: "url", url: argument } : fileAt(resolve(terminal.cwd, argument));
}

async function fileAt(path: string): Promise<AudioArgument> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (found.isDirectory())
    throw new CliError(EXIT.usage, `${path} is a folder.`, {
      hints: ["transcribe what it contains: patchbay transcribe FOLDER --out-dir DIRECTORY"],
    });
  if (!found.isFile()) throw new CliError(EXIT.usage, `${path} is not a file.`);
  return { kind: "file", path, sizeBytes: found.size, name: basename(path), dispose: () => Promise.resolve() };
}

/** Spooled to a file: the length must be declared, and a retry must read it again. */
async function spoolStdin(terminal: Terminal, signal: AbortSignal): Promise<AudioArgument> {
  if (terminal.stdin.isTTY === true)
    throw new CliError(EXIT.usage, "`-` reads audio from stdin, which is the keyboard here.", {
      hints: ["pipe a file into it: patchbay transcribe - < FILE"],
    });
  const directory = await mkdtemp(join(tmpdir(), "patchbay-"));
  const dispose = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, "audio");
  try {
    await pipeline(terminal.stdin, createWriteStream(path, { mode: 0o600 }), { signal });
    return { kind: "file", path, sizeBytes: (await stat(path)).size, name: "audio", dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
