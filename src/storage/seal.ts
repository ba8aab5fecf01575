// Encryption at rest: AES-256-GCM, the key's id inside the sealed bytes, and associated data that binds them to their place:
// moved to another tenant, row or field they do not open [tenancy.sealed-place].
import {
  type DecipherGCM,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createZstdDecompress, zstdCompress, zstdCompressSync, zstdDecompressSync } from "node:zlib";

const VERSION = 1;
/** The plaintext was compressed with zstd before it was encrypted; its length follows the key's id. 2 is the form of data keys (data-keys.ts). */
const COMPRESSED = 3;
/** The same of a plaintext that is too long to be opened as a whole. */
export const LARGE_COMPRESSED = 4;
const LARGE_BYTES = 1024 * 1024;
/** Smaller ones gain little. Measured: the transcript of 400 words with word times takes 43 kB as JSON and 7 kB compressed. */
const COMPRESS_FROM_BYTES = 1_024;
/** Larger ones are compressed on another thread: 64 KiB take about a quarter of a millisecond. */
const COMPRESS_HERE_BYTES = 64 * 1024;
const KEY_ID_BYTES = 4;
const LENGTH_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
export const LONGEST_HEAD_BYTES = HEAD_BYTES + LENGTH_BYTES;
/** By which sealed bytes are longer. */
export const SEAL_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

/** Where the sealed bytes live, for example `["jobs.result", workspaceId, jobId]`; the parts cannot run into one another. */
export type SealPlace = readonly string[];

export interface Seal {
  /** Of the keys in the ring, the one that seals first; bytes 2 to 5 of what each of them sealed. */
  readonly keyIds: readonly string[];
  seal(plaintext: Buffer, place: SealPlace): Buffer;
  /** Compressed where that makes it shorter. */
  sealCompressed(plaintext: Buffer, place: SealPlace): Promise<Buffer>;
  /** Throws when the bytes were changed, belong elsewhere, or their key is not in the ring. */
  open(sealed: Buffer, place: SealPlace): Buffer;
  /**
   * The same from pieces to pieces. What it yields is authentic only once the last was read: keep it back until then. Throws like `open`.
   */
  openPieces(sealed: AsyncIterable<Uint8Array>, place: SealPlace): AsyncGenerator<Buffer>;
  /** Proof that whoever holds the ring wrote these bytes, for one purpose only. */
  sign(bytes: Buffer, purpose: string): Buffer;
  /** False also when the key that signed is no longer in the ring. */
  isSigned(bytes: Buffer, purpose: string, signature: Buffer): boolean;
}

/** The first key seals, all of them open: a new key goes to the front and the old one stays until nothing needs it. */
export function createSeal({ keys }: { readonly keys: readonly Buffer[] }): Seal {
  const [current] = keys;
  if (current === undefined) throw new Error("At least one encryption key is needed.");
  if (keys.some((key) => key.length !== 32)) throw new Error("An encryption key has 32 bytes.");
  const ring = new Map(keys.map((key) => [keyId(key).toString("hex"), key]));
  const keyOf = (head: Buffer): Buffer => {
    const id = head.subarray(1, HEAD_BYTES).toString("hex");
    const key = ring.get(id);
    if (key === undefined)
      throw new Error(`The encryption key ${id} that sealed this is not in secrets.encryption_keys.`);
    return key;
  };
  const sealAs = (version: number, length: Buffer, contents: Buffer, place: SealPlace): Buffer => {
    const head = Buffer.concat([Buffer.of(version), keyId(current), length]);
    return encrypt(current, head, contents, associated(head, place));
  };
  const seal = (plaintext: Buffer, place: SealPlace): Buffer => sealAs(VERSION, Buffer.alloc(0), plaintext, place);
  return {
    keyIds: [...ring.keys()],
    seal,
    sealCompressed: async (plaintext, place) => {
      const compressed = await compress(plaintext);
      if (compressed === null) return seal(plaintext, place);
      const version = plaintext.length > LARGE_BYTES ? LARGE_COMPRESSED : COMPRESSED;
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(plaintext.length);
      return sealAs(version, length, compressed, place);
    },
    open: (sealed, place) => {
      const head = headOf(sealed);
      const opened = decrypt(keyOf(head), head.length, sealed, associated(head, place));
      return isCompressed(head)
        ? zstdDecompressSync(opened, { maxOutputLength: plaintextBytes(head, sealed.length) })
        : opened;
    },
    openPieces: async function* (sealed, place) {
      const { head, rest } = await takeHead(sealed);
      const pieces = decryptPieces(rest, keyOf(head), associated(head, place));
      if (isCompressed(head)) yield* decompressPieces(pieces);
      else yield* pieces;
    },
    sign: (bytes, purpose) => Buffer.concat([keyId(current), mac(current, purpose, bytes)]),
    isSigned: (bytes, purpose, signature) => {
      const key = ring.get(signature.subarray(0, KEY_ID_BYTES).toString("hex"));
      if (key === undefined) return false;
      const wanted = mac(key, purpose, bytes);
      const given = signature.subarray(KEY_ID_BYTES);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

/** Null: it stays as it is. */
async function compress(plaintext: Buffer): Promise<Buffer | null> {
  if (plaintext.length < COMPRESS_FROM_BYTES) return null;
  const isSmall = plaintext.length <= COMPRESS_HERE_BYTES;
  const compressed = isSmall ? zstdCompressSync(plaintext) : await promisify(zstdCompress)(plaintext);
  return compressed.length + LENGTH_BYTES < plaintext.length ? compressed : null;
}

async function* decompressPieces(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // The reader below is told of a failure.
  yield* pipeline(Readable.from(compressed), createZstdDecompress(), () => undefined) as AsyncIterable<Buffer>;
}

function isCompressed(head: Buffer): boolean {
  return head[0] === COMPRESSED || head[0] === LARGE_COMPRESSED;
}

/** In front of sealed bytes that begin so; throws when they do not begin as sealed bytes do. */
function headOf(sealed: Buffer): Buffer {
  const head = sealed.subarray(0, isCompressed(sealed) ? LONGEST_HEAD_BYTES : HEAD_BYTES);
  const isWhole = head.length === (isCompressed(head) ? LONGEST_HEAD_BYTES : HEAD_BYTES);
  if (!isWhole || (head[0] !== VERSION && !isCompressed(head)))
    throw new Error("These bytes are not sealed by this version.");
  return head;
}

/** Of what `sealedBytes` bytes hold that begin with `begin`, of at least `LONGEST_HEAD_BYTES`. Not proven until they were opened. */
export function plaintextBytes(begin: Buffer, sealedBytes: number): number {
  const head = headOf(begin);
  return isCompressed(head) ? head.readUInt32BE(HEAD_BYTES) : Math.max(0, sealedBytes - SEAL_BYTES);
}

/** The head stands in front, readable; whoever opens gives the same associated data. */
export function encrypt(key: Buffer, head: Buffer, plaintext: Buffer, associatedData: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associatedData);
  return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when anything differs. */
export function decrypt(key: Buffer, headBytes: number, sealed: Buffer, associatedData: Buffer): Buffer {
  const bodyAt = headBytes + NONCE_BYTES;
  if (sealed.length < bodyAt + TAG_BYTES) throw new Error("These bytes are not sealed by this version.");
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(headBytes, bodyAt), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(associatedData)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(bodyAt, -TAG_BYTES)), decipher.final()]);
}

/** As much of the beginning as decides what follows. */
async function takeHead(sealed: AsyncIterable<Uint8Array>) {
  const pieces = sealed[Symbol.asyncIterator]();
  let begin: Buffer = Buffer.alloc(0);
  while (begin.length < LONGEST_HEAD_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    begin = Buffer.concat([begin, next.value]);
  }
  const head = headOf(begin);
  const rest = async function* (): AsyncGenerator<Uint8Array> {
    yield begin.subarray(head.length);
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return { head, rest: rest() };
}

async function* decryptPieces(
  sealed: AsyncIterable<Uint8Array>,
  key: Buffer,
  associatedData: Buffer,
): AsyncGenerator<Buffer> {
  let decipher: DecipherGCM | null = null;
  // The tag is the end, wherever a piece ends.
  let rest = Buffer.alloc(0);
  for await (const piece of sealed) {
    if (decipher !== null && piece.length >= TAG_BYTES) {
      yield decipher.update(rest);
      yield decipher.update(piece.subarray(0, -TAG_BYTES));
      rest = Buffer.from(piece.subarray(-TAG_BYTES));
      continue;
    }
    rest = Buffer.concat([rest, piece]);
    if (decipher === null) {
      if (rest.length < NONCE_BYTES + TAG_BYTES) continue;
      const nonce = rest.subarray(0, NONCE_BYTES);
      decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(associatedData);
      rest = rest.subarray(NONCE_BYTES);
    }
    yield decipher.update(rest.subarray(0, -TAG_BYTES));
    rest = rest.subarray(-TAG_BYTES);
  }
  if (decipher === null) throw new Error("These bytes are not sealed by this version.");
  yield decipher.setAuthTag(rest).final();
}

/** Under a key of its own, derived: one that seals signs nothing. */
function mac(key: Buffer, purpose: string, bytes: Buffer): Buffer {
  const derived = Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), `patchbay/${purpose}`, 32));
  return createHmac("sha256", derived).update(bytes).digest();
}

function associated(head: Buffer, place: SealPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify(place))]);
}

function keyId(key: Buffer): Buffer {
  return createHash("sha256").update("patchbay-key-id").update(key).digest().subarray(0, KEY_ID_BYTES);
}
