// Reads a tar file entry by entry. The entries are packed again while they are read, and both must have the same checksum, so that a change is detected
// even in padding, which no library looks at.
import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";
import { createTarDecoder, createTarPacker, type TarHeader } from "modern-tar";

export interface ArchiveEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly sizeBytes: number;
}

export interface OpenedEntry {
  readonly entry: ArchiveEntry;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Versions up to 0.2.0 split longer names at another slash than the library does. No file of an installation has such a name. */
const MAX_SAME_NAME_BYTES = 100;

/** Yields each entry with its body, which must be read to the end before the next entry is requested. */
export async function* readEntries(file: string): AsyncGenerator<OpenedEntry> {
  const source = createReadStream(file, { highWaterMark: 2 ** 18 });
  const { readable, controller } = createTarPacker();
  const asRead = createChecksum();
  const asPacked = createChecksum();
  const packed = readable.pipeTo(new WritableStream({ write: asPacked.add }));
  // The same error is thrown where the entry is packed.
  packed.catch(() => undefined);
  let isComparable = true;
  try {
    const entries = ReadableStream.from(added(source, asRead)).pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of entries) {
      isComparable &&= Buffer.byteLength(header.name) <= MAX_SAME_NAME_BYTES;
      yield { entry: archiveEntry(header), body: packedAgain(body, controller.add(header)) };
    }
    controller.finalize();
    await packed;
  } finally {
    source.destroy();
  }
  if (isComparable && asRead.value() !== asPacked.value()) throw new Error("the archive has bytes that no backup has");
}

export function tarHeader({ name, kind, sizeBytes }: ArchiveEntry, mtime: Date): TarHeader {
  return kind === "folder"
    ? { name: `${name}/`, type: "directory", size: 0, mode: 0o700, mtime }
    : { name, type: "file", size: sizeBytes, mode: 0o600, mtime };
}

function archiveEntry({ name, type, size }: TarHeader): ArchiveEntry {
  if (type !== "file" && type !== "directory")
    throw new Error("the archive contains an entry that is neither a file nor a folder");
  return { name: name.replace(/\/$/u, ""), kind: type === "file" ? "file" : "folder", sizeBytes: size };
}

async function* packedAgain(
  body: ReadableStream<Uint8Array>,
  target: WritableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const writer = target.getWriter();
  for await (const chunk of body) {
    await writer.write(chunk);
    yield chunk;
  }
  await writer.close();
}

interface Checksum {
  readonly add: (chunk: Uint8Array) => void;
  readonly value: () => number;
}

/** Of accidental damage. The contents of files have SHA-256 hashes. */
function createChecksum(): Checksum {
  let sum = 0;
  return {
    add: (chunk) => {
      sum = crc32(chunk, sum);
    },
    value: () => sum,
  };
}

async function* added(source: AsyncIterable<Buffer>, checksum: Checksum): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    checksum.add(chunk);
    yield chunk;
  }
}
