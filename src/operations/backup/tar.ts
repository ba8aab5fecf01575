// Reads and writes the part of POSIX tar (ustar) that a backup needs: files and folders, streamed and never whole in memory. Any `tar` can read
// these archives.

export interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly sizeBytes: number;
}

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const CHECKSUM_AT = 148;

export function tarHeader({ name, kind, sizeBytes }: TarEntry, modifiedSeconds: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const [prefix, base] = splitName(kind === "folder" ? `${name}/` : name);
  block.write(base, 0);
  writeOctal(block, kind === "folder" ? 0o700 : 0o600, 100, 8);
  writeOctal(block, 0, 108, 8);
  writeOctal(block, 0, 116, 8);
  writeOctal(block, sizeBytes, 124, 12);
  writeOctal(block, modifiedSeconds, 136, 12);
  block.write(kind === "folder" ? "5" : "0", 156);
  block.write("ustar\0", 257);
  block.write("00", 263);
  block.write(prefix, 345);
  writeChecksum(block);
  return block;
}

/** Zeros that fill the last block of a body. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK);
}

/** The end of an archive: two empty blocks. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** Yields each entry with its body, which must be read to the end before the next entry is requested. */
export async function* readTar(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly entry: TarEntry; readonly body: AsyncIterable<Buffer> }> {
  const reader = createReader(source);
  try {
    for (;;) {
      const block = await reader.exactly(BLOCK);
      if (block.every((byte) => byte === 0)) return;
      const entry = parseHeader(block);
      yield { entry, body: reader.body(entry.sizeBytes) };
      const padding = await reader.exactly(tarPadding(entry.sizeBytes).length);
      if (padding.some((byte) => byte !== 0)) throw new Error("the archive is damaged between two files");
    }
  } finally {
    await reader.close();
  }
}

function parseHeader(block: Buffer): TarEntry {
  const expected = Buffer.from(block);
  writeChecksum(expected);
  if (!expected.subarray(CHECKSUM_AT, CHECKSUM_AT + 8).equals(block.subarray(CHECKSUM_AT, CHECKSUM_AT + 8)))
    throw new Error("a header of the archive is damaged");
  const text = (start: number, length: number) => {
    const field = block.subarray(start, start + length);
    const end = field.indexOf(0);
    return field.subarray(0, end === -1 ? length : end).toString();
  };
  const type = text(156, 1);
  if (type !== "0" && type !== "5")
    throw new Error("the archive contains an entry that is neither a file nor a directory");
  const prefix = text(345, PREFIX_BYTES);
  const name = prefix === "" ? text(0, NAME_BYTES) : `${prefix}/${text(0, NAME_BYTES)}`;
  return {
    name: name.replace(/\/$/u, ""),
    kind: type === "5" ? "folder" : "file",
    sizeBytes: Number.parseInt(text(124, 12), 8),
  };
}

/** Splits at a slash, so that both halves fit into their fields. */
function splitName(name: string): readonly [prefix: string, base: string] {
  if (Buffer.byteLength(name) <= NAME_BYTES) return ["", name];
  for (let at = name.indexOf("/"); at !== -1; at = name.indexOf("/", at + 1)) {
    const [prefix, base] = [name.slice(0, at), name.slice(at + 1)];
    if (base !== "" && Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(base) <= NAME_BYTES)
      return [prefix, base];
  }
  throw new Error(`the name ${name} is too long for an archive`);
}

function writeOctal(block: Buffer, value: number, start: number, length: number): void {
  const digits = Math.trunc(value).toString(8);
  if (digits.length > length - 1) throw new Error("a file is too large for an archive");
  block.write(digits.padStart(length - 1, "0"), start);
}

/** The sum of all header bytes, with the checksum field counted as spaces. */
function writeChecksum(block: Buffer): void {
  block.fill(" ", CHECKSUM_AT, CHECKSUM_AT + 8);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, CHECKSUM_AT);
}

function createReader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);

  const readUpTo = async (sizeBytes: number): Promise<Buffer> => {
    while (buffered.length === 0) {
      const next = await chunks.next();
      if (next.done === true) throw new Error("the archive ends early");
      buffered = next.value;
    }
    const part = buffered.subarray(0, sizeBytes);
    buffered = buffered.subarray(part.length);
    return part;
  };
  async function* body(sizeBytes: number): AsyncGenerator<Buffer> {
    for (let left = sizeBytes; left > 0; ) {
      const part = await readUpTo(left);
      left -= part.length;
      yield part;
    }
  }
  return {
    body,
    close: async (): Promise<void> => {
      await chunks.return?.();
    },
    exactly: async (sizeBytes: number): Promise<Buffer> => {
      const parts: Buffer[] = [];
      for await (const part of body(sizeBytes)) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}
