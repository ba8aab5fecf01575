// Unpacks chosen files of a tar archive, compressed or not, with bounds [local-models.archive-bounds]. An archive that contains a link, a device or a path that
// leads outside is refused as a whole [local-models.archive-paths].
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { createTarDecoder, type TarHeader } from "modern-tar";
import { bunzip } from "./bunzip.ts";
import { ModelFault } from "./model-fault.ts";
import { isPlainPath } from "./plain-path.ts";

export interface UnpackOptions {
  /** Where to write an entry with this path and size. Null: it is skipped. */
  readonly placeFor: (path: string, bytes: number) => string | null;
  readonly maxBytes?: number;
  readonly maxEntries?: number;
  readonly signal?: AbortSignal | undefined;
  /** Unpacked bytes so far, skipped files included. */
  readonly onBytes?: (bytes: number) => void;
}

/** Four times the largest archive of the manifest when unpacked. */
export const MAX_UNPACKED_BYTES = 3_000_000_000;
const MAX_ENTRIES = 1_000;
/** Checked here, because a closed generator cannot be told why. */
const TAR_MAGIC_OFFSET = 257;

export type ArchiveFormat = "bzip2" | "gzip" | "tar";

/** Null: not an archive. The content decides, never the name. */
export async function archiveFormat(path: string): Promise<ArchiveFormat | null> {
  const head = Buffer.alloc(TAR_MAGIC_OFFSET + 5);
  const file = await open(path, "r");
  try {
    await file.read(head, 0, head.length, 0);
  } finally {
    await file.close();
  }
  if (head.subarray(0, 3).toString("latin1") === "BZh") return "bzip2";
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  return head.subarray(TAR_MAGIC_OFFSET).toString("latin1") === "ustar" ? "tar" : null;
}

export async function unpackArchive(path: string, format: ArchiveFormat, options: UnpackOptions): Promise<void> {
  const { placeFor, maxEntries = MAX_ENTRIES } = options;
  const source = bounded(openArchive(path, format, options.signal), options);
  try {
    let count = 0;
    for await (const { header, body } of ReadableStream.from(source).pipeThrough(createTarDecoder({ strict: true }))) {
      count += 1;
      if (count > maxEntries) throw refusal(`it has more than ${maxEntries} entries`);
      const entryPath = requireSafe(header);
      const place = header.type === "directory" ? null : placeFor(entryPath, header.size);
      if (place === null) await body.cancel();
      else await writeBody(body, place);
    }
  } catch (error) {
    throw asFault(error, path, options.signal);
  }
}

function openArchive(path: string, format: ArchiveFormat, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  if (format === "bzip2") return bunzip(path, signal);
  const file = createReadStream(path, { highWaterMark: 2 ** 18, ...(signal === undefined ? {} : { signal }) });
  if (format === "tar") return file;
  const gunzip = createGunzip();
  file.on("error", (error) => gunzip.destroy(error));
  return file.pipe(gunzip);
}

async function* bounded(
  source: AsyncIterable<Uint8Array>,
  { maxBytes = MAX_UNPACKED_BYTES, onBytes }: Pick<UnpackOptions, "maxBytes" | "onBytes">,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw refusal(`it is larger than ${maxBytes} bytes when unpacked`);
    onBytes?.(bytes);
    yield chunk;
  }
}

/** Returns the path without the slash at the end of a folder and `./` at its beginning. */
function requireSafe({ name, type }: TarHeader): string {
  if (type !== "file" && type !== "directory") throw refusal(`${quoted(name)} is neither a file nor a folder`);
  const path = name.replace(/^(?:\.\/)+/u, "").replace(/\/$/u, "");
  if (type === "directory" && (path === "" || path === ".")) return "";
  if (!isPlainPath(path)) throw refusal(`${quoted(name)} is not a path inside of it`);
  return path;
}

async function writeBody(body: ReadableStream<Uint8Array>, place: string): Promise<void> {
  // `wx`: a path that occurs twice is a fault.
  const file = await open(place, "wx", 0o600);
  try {
    for await (const chunk of body) await file.appendFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

class Refusal extends Error {}

function refusal(reason: string): Refusal {
  return new Refusal(reason);
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

function asFault(error: unknown, path: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof Refusal) return new ModelFault("archive", `${path} is refused: ${error.message}.`);
  // Failures of the file system have a code and are no fault of the archive; those of the libraries for compression have one, too.
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (code !== "" && !code.startsWith("Z_") && code !== "ERR_WORKER_OUT_OF_MEMORY" && code !== "EEXIST") return error;
  const reason = error instanceof Error ? error.message : "unknown reason";
  return new ModelFault("archive", `${path} is damaged: ${reason}.`);
}
