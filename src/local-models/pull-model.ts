// Pulls a model: download, compare, unpack, compare again, install [local-models.pull]. Whatever stops it in between, the next pull continues, and nothing is
// installed that was not compared.
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeDirectory } from "../lib/make-directory.ts";
import { explainDiskError, requireSpace } from "./disk-space.ts";
import { downloadFile, type DownloadOptions, type DownloadParts } from "./download-file.ts";
import { differenceOf } from "./file-digest.ts";
import type { InstalledModel } from "./installed-model.ts";
import { downloadBytes, totalBytes } from "./manifest.ts";
import { ModelFault } from "./model-fault.ts";
import { withModelLock } from "./model-lock.ts";
import type { ModelSpec } from "./model-spec.ts";
import { install, readStored, removeStored, sizeOf } from "./model-store.ts";
import { archiveFormat, unpackArchive } from "./unpack-archive.ts";
import { verifyModel } from "./verify-model.ts";

export interface PullParts extends DownloadParts {
  /** `models.dir`. */
  readonly dir: string;
  /** `models.fetch`. */
  readonly fetch: "on_request" | "never";
  readonly freeBytes?: (dir: string) => Promise<number>;
  readonly now?: () => Date;
}

/** `waiting`: another process has the lock. `retrying`: waits before another connection. */
export type PullPhase = "waiting" | "downloading" | "retrying" | "unpacking" | "verifying";

export interface PullProgress {
  readonly phase: PullPhase;
  readonly bytes: number;
  readonly totalBytes: number;
  /** Who has the lock, or why another try is needed. */
  readonly message?: string;
}

export interface PullOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

export interface Pulled {
  readonly model: InstalledModel;
  /** It was installed and intact already, or another process pulled it at the same time. */
  readonly wasInstalled: boolean;
}

/** The caller has shown the licence, and a person has accepted it. */
export async function pullModel(spec: ModelSpec, parts: PullParts, options: PullOptions): Promise<Pulled> {
  const { dir } = parts;
  const { signal, onProgress } = options;
  requireFetch(parts);
  try {
    await makeDirectory(dir);
    const onWaiting = (message: string): void => onProgress({ phase: "waiting", bytes: 0, totalBytes: 0, message });
    return await withModelLock(dir, spec.name, { signal, onWaiting }, () => pullLocked(spec, parts, options));
  } catch (error) {
    signal.throwIfAborted();
    throw explainDiskError(error, dir);
  }
}

/** Throws if the configuration forbids downloads [local-models.fetch-never]. */
export function requireFetch({ fetch }: Pick<PullParts, "fetch">): void {
  if (fetch === "never")
    throw new ModelFault("refused", "`models.fetch` is `never`: this installation downloads no models.", [
      "take the model there on a disk: patchbay models import DIR|ARCHIVE",
    ]);
}

/** A model that is intact needs no pull. */
export async function findIntact(spec: ModelSpec, dir: string, signal?: AbortSignal): Promise<InstalledModel | null> {
  const state = await readStored(dir, spec.name, [spec]);
  if (state.kind !== "installed") return null;
  const { ok } = await verifyModel(state.model, signal === undefined ? {} : { signal });
  return ok ? state.model : null;
}

/** Removes a model, and what was downloaded of it. */
export async function removeModel(dir: string, name: string, signal: AbortSignal): Promise<boolean> {
  return withModelLock(dir, name, { signal }, async () => {
    const hadDownload = (await sizeOfDirectory(downloadsOf(dir, name))) > 0;
    await rm(downloadsOf(dir, name), { recursive: true, force: true });
    await rm(stagingOf(dir, name), { recursive: true, force: true });
    return (await removeStored(dir, name)) || hadDownload;
  });
}

/** The folder in which a model is put together. The caller has the model's lock. */
export async function openStaging(dir: string, name: string): Promise<string> {
  const staging = stagingOf(dir, name);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  return staging;
}

async function pullLocked(spec: ModelSpec, parts: PullParts, options: PullOptions): Promise<Pulled> {
  const { dir, now = () => new Date() } = parts;
  const intact = await findIntact(spec, dir, options.signal);
  if (intact !== null) return { model: intact, wasInstalled: true };
  const downloads = downloadsOf(dir, spec.name);
  await makeDirectory(downloads);
  const missing = downloadBytes(spec) - (await sizeOfDirectory(downloads));
  await requireSpace(dir, Math.max(0, missing) + unpackedBytes(spec), parts.freeBytes);
  const staging = await openStaging(dir, spec.name);
  try {
    await fetchFiles(spec, { downloads, staging }, parts, options);
    await requireFiles(spec, staging, options);
    const at = now().toISOString();
    const { id, url } = spec.licence;
    await install(dir, staging, {
      format: 1,
      spec,
      files: spec.files,
      origin: { kind: "pull" },
      installed_at: at,
      licence: { id, url, accepted_at: at },
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  await rm(downloads, { recursive: true, force: true });
  return { model: { name: spec.name, dir: join(dir, spec.name), files: spec.files, spec }, wasInstalled: false };
}

async function fetchFiles(
  { source, files }: ModelSpec,
  { downloads, staging }: { readonly downloads: string; readonly staging: string },
  parts: PullParts,
  { signal, onProgress }: PullOptions,
): Promise<void> {
  if (source === null) throw new ModelFault("unknown", "This model is part of the package and cannot be pulled.");
  if (source.kind === "archive") {
    const archive = join(downloads, basename(new URL(source.url).pathname));
    await downloadFile(source, archive, parts, { signal, ...reportOf(onProgress, 0, source.bytes) });
    await unpackSource(archive, { folder: source.folder, files, staging }, { signal, onProgress });
    return;
  }
  const total = totalBytes(files);
  let done = 0;
  for (const { path, bytes, sha256 } of files) {
    const target = join(downloads, path);
    await makeDirectory(dirname(target));
    const remote = { url: `${source.base}/${path}`, bytes, sha256 };
    await downloadFile(remote, target, parts, { signal, ...reportOf(onProgress, done, total) });
    done += bytes;
  }
  // All are there: a pull that stops before keeps what it has.
  for (const { path } of files) {
    await makeDirectory(dirname(join(staging, path)));
    await rename(join(downloads, path), join(staging, path));
  }
}

/** Progress of one file of several, `before` of whose bytes are there. */
function reportOf(
  onProgress: PullOptions["onProgress"],
  before: number,
  total: number,
): Pick<DownloadOptions, "onBytes" | "onRetry"> {
  let bytes = before;
  return {
    onBytes: (own) => {
      bytes = before + own;
      onProgress({ phase: "downloading", bytes, totalBytes: total });
    },
    onRetry: (message) => onProgress({ phase: "retrying", bytes, totalBytes: total, message }),
  };
}

async function unpackSource(
  archive: string,
  { folder, files, staging }: { readonly folder: string; readonly files: ModelSpec["files"]; readonly staging: string },
  { signal, onProgress }: PullOptions,
): Promise<void> {
  const format = await archiveFormat(archive);
  if (format === null) throw new ModelFault("archive", `${archive} is not an archive.`);
  const total = totalBytes(files);
  for (const { path } of files) await makeDirectory(dirname(join(staging, path)));
  await unpackArchive(archive, format, {
    signal,
    placeFor: (path) => {
      const file = files.find((each) => `${folder}/${each.path}` === path);
      return file === undefined ? null : join(staging, file.path);
    },
    onBytes: (bytes) => onProgress({ phase: "unpacking", bytes: Math.min(bytes, total), totalBytes: total }),
  });
}

async function requireFiles({ files }: ModelSpec, staging: string, { signal, onProgress }: PullOptions): Promise<void> {
  const total = totalBytes(files);
  let done = 0;
  for (const file of files) {
    onProgress({ phase: "verifying", bytes: done, totalBytes: total });
    const difference = await differenceOf(join(staging, file.path), file, signal);
    if (difference !== null)
      throw new ModelFault("mismatch", `${file.path} of the archive ${difference}. Nothing was installed.`);
    done += file.bytes;
  }
}

/** Files that are downloaded one by one are moved, not copied. */
function unpackedBytes({ source, files }: ModelSpec): number {
  return source?.kind === "archive" ? totalBytes(files) : 0;
}

function downloadsOf(dir: string, name: string): string {
  return join(dir, ".downloads", name);
}

function stagingOf(dir: string, name: string): string {
  return join(dir, `.staging-${name}`);
}

async function sizeOfDirectory(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}
