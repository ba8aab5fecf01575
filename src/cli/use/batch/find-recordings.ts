// Finds the recordings that the arguments of `patchbay transcribe` name: files, folders with everything below them, and URLs [cli.batch-input].
import type { Dirent, Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { EXIT } from "../../exit-codes.ts";
import { unreadable } from "../../read-argument.ts";
import { CliError } from "../../terminal.ts";

export interface Recording {
  /** An absolute path, or an https:// URL. */
  readonly source: string;
  /** As printed: the argument, and for a file of a folder its path below it. */
  readonly label: string;
  /** Name of the file; for a file of a folder its path below the folder. */
  readonly place: string;
  /** Name of the folder that contains `place`. */
  readonly parent: string;
}

export interface FoundRecordings {
  readonly recordings: readonly Recording[];
  /** What could not be read. */
  readonly failures: readonly { readonly label: string; readonly error: CliError }[];
  /** Folders without a recording. */
  readonly emptyFolders: readonly string[];
  /** Files of folders that look like audio of a format that no gateway accepts. */
  readonly unsupported: readonly string[];
}

/** Endings of the formats that a gateway accepts (contract/transcription/audio-formats.ts). */
const RECORDING = /\.(?:mp3|mpga|mp2|mp4|m4a|m4b|mpeg|mpg|wav|wave|webm)$/iu;
const OTHER_AUDIO = /\.(?:aac|aif|aiff|alac|amr|caf|flac|mka|mkv|mov|oga|ogg|opus|wma)$/iu;

export async function findRecordings(names: readonly string[], cwd: string): Promise<FoundRecordings> {
  const found: Found = { recordings: new Map(), failures: [], emptyFolders: [], unsupported: [] };
  for (const name of names) await findIn(name, cwd, found);
  return { ...found, recordings: [...found.recordings.values()] };
}

/** The name without the ending of an audio format. Any other ending is a part of the name: `interview.part1`. */
export function withoutEnding(place: string): string {
  return place.replace(RECORDING, "").replace(OTHER_AUDIO, "");
}

interface Found {
  /** By source, because one may be named twice. */
  readonly recordings: Map<string, Recording>;
  readonly failures: { readonly label: string; readonly error: CliError }[];
  readonly emptyFolders: string[];
  readonly unsupported: string[];
}

async function findIn(name: string, cwd: string, found: Found): Promise<void> {
  if (/^https?:\/\//iu.test(name)) return add(found, ofUrl(name));
  const path = resolve(cwd, name);
  const facts = await factsOf(path);
  if (facts instanceof CliError) found.failures.push({ label: name, error: facts });
  else if (facts.isFile())
    add(found, { source: path, label: name, place: basename(path), parent: basename(dirname(path)) });
  else if (facts.isDirectory()) await findBelow({ name, path }, found);
  else found.failures.push({ label: name, error: new CliError(EXIT.usage, `${path} is neither a file nor a folder.`) });
}

async function findBelow(folder: { readonly name: string; readonly path: string }, found: Found): Promise<void> {
  let count = 0;
  const visited = new Set<string>();
  const visit = async (below: string): Promise<void> => {
    const path = join(folder.path, below);
    const label = join(folder.name, below);
    try {
      const real = await realpath(path);
      // Each folder once: a link to a folder that contains it has no end.
      if (visited.has(real)) return;
      visited.add(real);
      const entries = await readdir(path, { withFileTypes: true });
      for (const entry of entries.toSorted(byName)) {
        // Hidden files are no recordings: macOS stores `._call.mp3` next to `call.mp3`.
        if (entry.name.startsWith(".")) continue;
        const place = join(below, entry.name);
        if (await isFolder(entry, join(path, entry.name))) await visit(place);
        else if (RECORDING.test(entry.name)) {
          count += 1;
          const source = join(path, entry.name);
          add(found, { source, label: join(label, entry.name), place, parent: basename(folder.path) });
        } else if (OTHER_AUDIO.test(entry.name)) found.unsupported.push(join(label, entry.name));
      }
    } catch (error) {
      count += 1;
      found.failures.push({ label, error: unreadable(path, error) });
    }
  };
  await visit("");
  if (count === 0) found.emptyFolders.push(folder.name);
}

/** Links to folders are followed. A link that leads nowhere is no folder. */
async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const facts = await factsOf(path);
  return !(facts instanceof CliError) && facts.isDirectory();
}

function factsOf(path: string): Promise<Stats | CliError> {
  return stat(path).catch((error: unknown) => unreadable(path, error));
}

function ofUrl(url: string): Recording {
  const { hostname, pathname } = URL.canParse(url) ? new URL(url) : { hostname: "url", pathname: "" };
  const last = pathname.split("/").findLast((part) => part !== "") ?? hostname;
  const name = decoded(last).replaceAll(/[/\\\p{Cc}]/gu, "_");
  return { source: url, label: url, place: /^\.*$/u.test(name) ? "audio" : name, parent: hostname };
}

/** A malformed escape is kept unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function add({ recordings }: Found, recording: Recording): void {
  if (!recordings.has(recording.source)) recordings.set(recording.source, recording);
}

/** The same order on every machine. */
function byName({ name: one }: Dirent, { name: other }: Dirent): number {
  return one < other ? -1 : 1;
}
