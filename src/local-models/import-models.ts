// Imports models from local media: a directory, an archive or a single file [local-models.import]. Files are recognised by name and size and compared with the
// manifest's SHA-256, so that the medium may arrange them as it likes.
import { copyFile, readdir, rm, stat } from "node:fs/promises";
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import { makeDirectory } from "../lib/make-directory.ts";
import { explainDiskError, requireSpace } from "./disk-space.ts";
import { differenceOf } from "./file-digest.ts";
import type { InstalledModel } from "./installed-model.ts";
import { totalBytes } from "./manifest.ts";
import { ModelFault } from "./model-fault.ts";
import { withModelLock } from "./model-lock.ts";
import type { ModelFile, ModelSpec } from "./model-spec.ts";
import { install, sizeOf, syncFile } from "./model-store.ts";
import { findIntact, openStaging, type PullParts } from "./pull-model.ts";
import { archiveFormat, unpackArchive } from "./unpack-archive.ts";

export interface FoundModel {
  readonly spec: ModelSpec;
  /** Where each of its files is, in the order of `spec.files`. Null: it was not found. */
  readonly places: readonly (string | null)[];
}

/** What a medium contains. `dispose` removes what was unpacked of an archive. */
export interface Medium {
  readonly complete: readonly FoundModel[];
  /** Models of which some files are there, but not all. */
  readonly partial: readonly FoundModel[];
  readonly dispose: () => Promise<void>;
}

/** Prefix of a folder with what was unpacked of an archive. */
const UNPACKED = ".import-";
/** No import takes as long: the folder is of one that was killed. */
const ABANDONED_MS = 86_400_000;

/** Directories below the given one that are searched. */
const MAX_DEPTH = 4;
const MAX_FILES = 10_000;

export async function openMedium(
  path: string,
  manifest: readonly ModelSpec[],
  { dir, freeBytes }: Pick<PullParts, "dir" | "freeBytes">,
  signal: AbortSignal,
): Promise<Medium> {
  const size = await sizeOf(path);
  if (size === null) {
    const files = await filesBelow(path);
    if (files === null) throw new ModelFault("unknown", `There is no file or directory ${path}.`);
    return mediumOf(files, manifest, async () => undefined);
  }
  const format = await archiveFormat(path);
  if (format === null) return mediumOf([{ path, bytes: size }], manifest, async () => undefined);
  await removeAbandoned(dir);
  const folder = join(dir, `${UNPACKED}${randomUUID()}`);
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await makeDirectory(folder);
    const unpacked: Candidate[] = [];
    await requireSpace(dir, size, freeBytes);
    await unpackArchive(path, format, {
      signal,
      placeFor: (name, bytes) => {
        if (!isWanted(manifest, name, bytes)) return null;
        const place = join(folder, String(unpacked.length));
        unpacked.push({ path: place, name: basename(name), bytes });
        return place;
      },
    });
    return mediumOf(unpacked, manifest, dispose);
  } catch (error) {
    await dispose();
    signal.throwIfAborted();
    throw explainDiskError(error, dir);
  }
}

/** The caller has shown the licence, and a person has accepted it. */
export async function importModel(
  { spec, places }: FoundModel,
  from: string,
  { dir, freeBytes, now = () => new Date() }: Pick<PullParts, "dir" | "freeBytes" | "now">,
  { signal }: { readonly signal: AbortSignal },
): Promise<{ readonly model: InstalledModel; readonly wasInstalled: boolean }> {
  try {
    await makeDirectory(dir);
    return await withModelLock(dir, spec.name, { signal }, async () => {
      const intact = await findIntact(spec, dir, signal);
      if (intact !== null) return { model: intact, wasInstalled: true };
      await requireSpace(dir, totalBytes(spec.files), freeBytes);
      const staging = await openStaging(dir, spec.name);
      try {
        for (const [index, file] of spec.files.entries())
          await copyCompared(places[index] ?? "", staging, file, signal);
        const at = now().toISOString();
        const { id, url } = spec.licence;
        const licence = { id, url, accepted_at: at };
        const origin = { kind: "import", from } as const;
        await install(dir, staging, { format: 1, spec, files: spec.files, origin, installed_at: at, licence });
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
      return { model: { name: spec.name, dir: join(dir, spec.name), files: spec.files, spec }, wasInstalled: false };
    });
  } catch (error) {
    signal.throwIfAborted();
    throw explainDiskError(error, dir);
  }
}

/** Says what a medium lacks, if it has no complete model. */
export function nothingFound(path: string, { partial }: Medium): ModelFault {
  if (partial.length === 0)
    return new ModelFault("unknown", `${path} contains no model that this version knows.`, [
      "`patchbay models list` names them",
    ]);
  const lacks = partial.map(({ spec, places }) => {
    const missing = spec.files.filter((_, index) => places[index] === null).map((file) => file.path);
    return `${spec.name} lacks ${missing.join(", ")}`;
  });
  return new ModelFault("mismatch", `${path} contains no complete model.`, lacks);
}

interface Candidate {
  readonly path: string;
  /** Default: the last part of `path`. */
  readonly name?: string;
  readonly bytes: number;
}

function mediumOf(files: readonly Candidate[], manifest: readonly ModelSpec[], dispose: Medium["dispose"]): Medium {
  const found = manifest.map((spec) => ({
    spec,
    places: spec.files.map(
      (file) => files.find(({ path, name = basename(path), bytes }) => isFile(file, name, bytes))?.path ?? null,
    ),
  }));
  return {
    complete: found.filter(({ places }) => !places.includes(null)),
    partial: found.filter(({ places }) => places.includes(null) && places.some((place) => place !== null)),
    dispose,
  };
}

function isWanted(manifest: readonly ModelSpec[], name: string, bytes: number): boolean {
  return manifest.some(({ files }) => files.some((file) => isFile(file, basename(name), bytes)));
}

function isFile(file: ModelFile, name: string, bytes: number): boolean {
  return basename(file.path) === name && file.bytes === bytes;
}

async function removeAbandoned(dir: string): Promise<void> {
  for (const name of (await readdir(dir).catch(() => [])).filter((each) => each.startsWith(UNPACKED))) {
    const facts = await stat(join(dir, name)).catch(() => null);
    if (facts !== null && Date.now() - facts.mtimeMs > ABANDONED_MS)
      await rm(join(dir, name), { recursive: true, force: true });
  }
}

/** Null: it is no directory. Links are followed: only the contents count. */
async function filesBelow(path: string, depth = 0): Promise<readonly Candidate[] | null> {
  const names = await readdir(path).catch(() => null);
  if (names === null) return null;
  if (names.length > MAX_FILES) throw new ModelFault("archive", `${path} has more than ${MAX_FILES} files.`);
  const found: Candidate[] = [];
  for (const name of names.toSorted()) {
    const below = join(path, name);
    const bytes = await sizeOf(below);
    if (bytes !== null) found.push({ path: below, bytes });
    else if (depth < MAX_DEPTH) found.push(...((await filesBelow(below, depth + 1)) ?? []));
  }
  return found;
}

/** Compares the copy, because the medium may be read differently a second time. */
async function copyCompared(from: string, staging: string, file: ModelFile, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const to = join(staging, file.path);
  await makeDirectory(dirname(to));
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await syncFile(to);
  const difference = await differenceOf(to, file, signal);
  if (difference !== null)
    throw new ModelFault("mismatch", `${file.path} of ${from} ${difference}. Nothing was installed.`);
}
