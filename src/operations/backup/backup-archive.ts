// Writes and reads backups: tar files with a dump of every table, the objects, the secrets, then a manifest with the SHA-256 of every file,
// then the manifest's own SHA-256. A truncated or changed archive is detected.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createTarPacker, type TarPackController } from "modern-tar";
import { z } from "zod";
import { singleChunk } from "../../lib/buffered-body.ts";
import { FORMER_DATABASE } from "../../storage/embedded/installation-state.ts";
import { type ArchiveEntry, readEntries, tarHeader } from "./archive-entries.ts";
import { NEEDED_SECRETS, partsOf, statOrNull } from "./data-dir-contents.ts";

const MANIFEST = "manifest.json";
const SEAL = "manifest.sha256";
const MAX_MANIFEST_BYTES = 2 ** 28;
/** A SHA-256 in hexadecimal. */
const SEAL_BYTES = 64;

const manifestSchema = z.object({
  format: z.literal("patchbay-backup"),
  version: z.literal(2),
  created_at: z.string(),
  patchbay: z.string(),
  migrations: z.array(z.string()),
  tables: z.array(z.object({ table: z.string(), rows: z.number(), digest: z.string() })),
  has_secrets: z.boolean(),
  objects: z.enum(["included", "elsewhere"]),
  entries: z.array(
    z.object({ name: z.string(), kind: z.enum(["file", "folder"]), size: z.number(), sha256: z.string() }),
  ),
});
export type Manifest = z.infer<typeof manifestSchema>;
export type About = Omit<Manifest, "entries" | "format" | "version">;
type ManifestEntry = Manifest["entries"][number];

/** The archive is complete, but in a format that this version cannot read. */
export class BackupOfOtherVersion extends Error {
  override readonly name = "BackupOfOtherVersion";
}

export function rowsByTable(tables: Manifest["tables"]): Readonly<Record<string, number>> {
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}

export function countRows({ tables }: Pick<Manifest, "tables">): number {
  return tables.reduce((total, { rows }) => total + rows, 0);
}

export async function writeArchive(target: FileHandle, dataDir: string, about: About): Promise<void> {
  const { readable, controller } = createTarPacker();
  // Unlike `write`, `writeFile` continues until all bytes are written.
  const sink = new WritableStream<Uint8Array>({ write: (chunk) => target.writeFile(chunk) });
  // An error of either side ends the other one with the same error.
  const packed = packAll(controller, dataDir, about).catch((error: unknown) => {
    controller.error(error);
    throw error;
  });
  await Promise.all([readable.pipeTo(sink), packed]);
}

async function packAll(controller: TarPackController, dataDir: string, about: About): Promise<void> {
  const entries: ManifestEntry[] = [];
  const mtime = new Date(about.created_at);
  const put = async (entry: ArchiveEntry, body: AsyncIterable<Uint8Array>): Promise<string> => {
    const writer = controller.add(tarHeader(entry, mtime)).getWriter();
    const hash = createHash("sha256");
    let written = 0;
    for await (const chunk of body) {
      hash.update(chunk);
      written += chunk.length;
      // Stops at once, because a file that grows while it is read may have no end.
      if (written > entry.sizeBytes) break;
      await writer.write(chunk);
    }
    if (written !== entry.sizeBytes) throw new Error(`${entry.name} changed while it was read`);
    await writer.close();
    return hash.digest("hex");
  };

  for await (const entry of walk(dataDir, partsOf(about.has_secrets))) {
    const body = entry.kind === "folder" ? emptyBody() : createReadStream(join(dataDir, entry.name));
    const sha256 = await put(entry, body);
    entries.push({ name: entry.name, kind: entry.kind, size: entry.sizeBytes, sha256 });
  }
  const manifest: Manifest = { format: "patchbay-backup", version: 2, ...about, entries };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  const manifestHash = await put({ name: MANIFEST, kind: "file", sizeBytes: text.length }, singleChunk(text));
  await put({ name: SEAL, kind: "file", sizeBytes: SEAL_BYTES }, singleChunk(Buffer.from(manifestHash)));
  controller.finalize();
}

/** The required secrets that the archive lacks, because they were in the configuration or excluded. */
export function missingSecrets({ entries }: Manifest): readonly string[] {
  return NEEDED_SECRETS.filter((name) => !entries.some((entry) => entry.name === name));
}

/** Reads the whole archive and verifies every hash. Extracts into `into` if it is given. Throws on any difference. */
export async function readArchive(file: string, targetFolder: string | null): Promise<Manifest> {
  const actualEntries = new Map<string, ManifestEntry>();
  let manifestText: Buffer | null = null;
  let seal: string | null = null;
  for await (const { entry, body } of readEntries(file)) {
    if (seal !== null) throw new Error("the archive contains data after its end");
    if (entry.name === MANIFEST) {
      if (entry.sizeBytes > MAX_MANIFEST_BYTES) throw new Error("the manifest is too large");
      manifestText = await readAll(body);
    } else if (entry.name === SEAL) {
      if (entry.sizeBytes !== SEAL_BYTES) throw new Error("the manifest's hash is malformed");
      seal = (await readAll(body)).toString();
    } else {
      if (entry.name.split("/")[0] === FORMER_DATABASE)
        throw new BackupOfOtherVersion("it contains the embedded database of version 0.1.0");
      if (!isInside(entry.name))
        throw new Error(`the archive names ${JSON.stringify(entry.name)}, which is not a valid location`);
      const sha256 = await extractEntry(entry, body, targetFolder);
      actualEntries.set(entry.name, { name: entry.name, kind: entry.kind, size: entry.sizeBytes, sha256 });
    }
  }
  if (manifestText === null || seal !== createHash("sha256").update(manifestText).digest("hex"))
    throw new Error("the archive has no manifest, or a different one");
  const parsed = manifestSchema.safeParse(JSON.parse(manifestText.toString()));
  if (!parsed.success) throw new BackupOfOtherVersion("this version does not support the manifest's format");
  const manifest = parsed.data;
  for (const expected of manifest.entries) {
    const found = actualEntries.get(expected.name);
    if (found?.sha256 !== expected.sha256 || found.size !== expected.size || found.kind !== expected.kind)
      throw new Error(`${expected.name} differs from the content that was backed up`);
    actualEntries.delete(expected.name);
  }
  if (actualEntries.size > 0) throw new Error("the archive contains files that its manifest does not list");
  return manifest;
}

async function extractEntry(
  entry: ArchiveEntry,
  body: AsyncIterable<Uint8Array>,
  targetFolder: string | null,
): Promise<string> {
  const hash = createHash("sha256");
  if (targetFolder !== null && entry.kind === "folder") await mkdir(join(targetFolder, entry.name), { mode: 0o700 });
  const file =
    targetFolder !== null && entry.kind === "file" ? await open(join(targetFolder, entry.name), "wx", 0o600) : null;
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      await file?.writeFile(chunk);
    }
    await file?.datasync();
  } finally {
    await file?.close();
  }
  return hash.digest("hex");
}

/** Whether the name is below a known top-level part, without `..` or empty segments. */
function isInside(name: string): boolean {
  const [top = "", ...below] = name.split("/");
  return partsOf(true).includes(top) && below.every((part) => part !== "" && part !== "." && part !== "..");
}

async function* walk(dataDir: string, names: readonly string[]): AsyncGenerator<ArchiveEntry> {
  for (const name of names) {
    const fileStat = await statOrNull(join(dataDir, name));
    if (fileStat === null) continue;
    if (fileStat.isFile()) yield { name, kind: "file", sizeBytes: fileStat.size };
    else if (fileStat.isDirectory()) {
      yield { name, kind: "folder", sizeBytes: 0 };
      // Names that begin with a dot are the object store's temporary uploads.
      const children = (await readdir(join(dataDir, name))).filter((child) => !child.startsWith(".")).toSorted();
      yield* walk(
        dataDir,
        children.map((child) => `${name}/${child}`),
      );
    }
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}
