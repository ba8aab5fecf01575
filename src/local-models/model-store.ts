// The directory of installed models: one folder a model with its files and `installed.json`, which is written last, so that a folder with it is complete
// [local-models.atomic]. Names that begin with a full stop are downloads, staging folders and locks.
import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../lib/error-code.ts";
import type { InstalledModel } from "./installed-model.ts";
import { type InstallationRecord, installationRecord, modelName } from "./model-schema.ts";
import type { ModelSpec } from "./model-spec.ts";

export const RECORD_FILE = "installed.json";

export interface StoredModel extends InstalledModel {
  readonly record: InstallationRecord;
}

/** `damaged`: there is a folder, but its record or one of its files is missing or has another size. */
export type StoredState =
  | { readonly kind: "absent" }
  | { readonly kind: "installed"; readonly model: StoredModel }
  | { readonly kind: "damaged"; readonly reason: string };

/** Looks at names and sizes only. `verifyModel` compares the contents. */
export async function readStored(dir: string, name: string, manifest: readonly ModelSpec[]): Promise<StoredState> {
  const folder = join(dir, name);
  const text = await readTextOrNull(join(folder, RECORD_FILE));
  if (text === null) {
    const isFolder = await stat(folder).then(
      (facts) => facts.isDirectory(),
      () => false,
    );
    return isFolder ? { kind: "damaged", reason: `${RECORD_FILE} is missing` } : { kind: "absent" };
  }
  const record = parseRecord(text);
  if (record === null || record.spec.name !== name)
    return { kind: "damaged", reason: `${RECORD_FILE} is not the record of this model` };
  for (const { path, bytes } of record.files) {
    const size = await sizeOf(join(folder, path));
    if (size === null) return { kind: "damaged", reason: `${path} is missing` };
    if (size !== bytes) return { kind: "damaged", reason: `${path} has ${size} bytes instead of ${bytes}` };
  }
  const spec = currentSpec(record, manifest);
  return { kind: "installed", model: { name, dir: folder, files: record.files, spec, record } };
}

/** Complete models, by name. A missing directory has none. */
export async function listInstalled(dir: string, manifest: readonly ModelSpec[]): Promise<readonly StoredModel[]> {
  const states = await Promise.all((await storedNames(dir)).map((name) => readStored(dir, name, manifest)));
  return states.flatMap((state) => (state.kind === "installed" ? [state.model] : []));
}

export async function storedNames(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && modelName.safeParse(entry.name).success)
    .map(({ name }) => name)
    .toSorted();
}

/** Gives a complete staging folder the model's name, in place of an older one. */
export async function install(dir: string, staging: string, record: InstallationRecord): Promise<void> {
  const { name } = record.spec;
  const file = await open(join(staging, RECORD_FILE), "wx", 0o600);
  try {
    await writeFile(file, `${JSON.stringify(record, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(staging);
  await removeStored(dir, name);
  await rename(staging, join(dir, name));
  await syncDirectory(dir);
}

/** The folder loses its name first, so that a kill in between leaves no half of a model. */
export async function removeStored(dir: string, name: string): Promise<boolean> {
  const removed = join(dir, `.removed-${name}`);
  await rm(removed, { recursive: true, force: true });
  try {
    await rename(join(dir, name), removed);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
  await rm(removed, { recursive: true, force: true });
  return true;
}

export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Without it, a rename may be lost when the machine stops. Some systems cannot open directories. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => null);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
}

/** Null: there is no such file. */
export async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (facts) => (facts.isFile() ? facts.size : null),
    (error: unknown) => {
      const code = errorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw error;
    },
  );
}

/** Corrections of a later version apply to models that are installed already, as long as they are the same files. */
function currentSpec({ spec, files }: InstallationRecord, manifest: readonly ModelSpec[]): ModelSpec {
  const known = manifest.find(({ name }) => name === spec.name);
  const isSame = known?.files.every((file) =>
    files.some(({ path, sha256 }) => path === file.path && sha256 === file.sha256),
  );
  return known !== undefined && isSame === true ? known : spec;
}

function parseRecord(text: string): InstallationRecord | null {
  try {
    return installationRecord.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function readTextOrNull(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error: unknown) => {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  });
}
