// Encrypts data at rest with AES-256-GCM. Sealed bytes contain the key's id, and associated data binds them to their place: they do not open
// in another tenant, row or field [tenancy.sealed-place].
import {
  createSecretKey,
  type DecipherGCM,
  type KeyObject,
  type CipherKey,
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
/** Compressed with zstd before encryption. The plaintext's length follows the key's id. Version 2 is used by data keys (data-keys.ts). */
const COMPRESSED = 3;
/** Like `COMPRESSED`, for a plaintext too large to be opened in one piece. */
export const LARGE_COMPRESSED = 4;
const LARGE_BYTES = 1024 * 1024;
/** Smaller plaintexts gain little. Measured: a transcript of 400 words with word times has 43 kB as JSON and 7 kB compressed. */
const COMPRESS_FROM_BYTES = 1_024;
/** Larger plaintexts are compressed in another thread: 64 KiB take about 0.25 ms. */
const COMPRESS_HERE_BYTES = 64 * 1024;
const KEY_ID_BYTES = 4;
const LENGTH_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
export const LONGEST_HEAD_BYTES = HEAD_BYTES + LENGTH_BYTES;
/** How many bytes longer than the plaintext sealed bytes are. */
export const SEAL_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

/** Where the sealed bytes are stored, for example `["jobs.result", workspaceId, jobId]`. Encoded so that parts cannot be confused. */
export type SealPlace = readonly string[];

export interface Seal {
  /** Ids of the ring's keys, in hexadecimal; the first one seals. They are in bytes 2 to 5 of sealed bytes. */
  readonly keyIds: readonly string[];
  seal(plaintext: Buffer, place: SealPlace): Buffer;
  /** Compresses the plaintext if that makes it shorter. */
  sealCompressed(plaintext: Buffer, place: SealPlace): Promise<Buffer>;
  /** Throws if the bytes were changed, belong to another place, or their key is not in the ring. */
  open(sealed: Buffer, place: SealPlace): Buffer;
  /**
   * Like `open`, in pieces. The output is authenticated only after the last piece was read, so do not use it before. Throws like `open`.
   */
  openPieces(sealed: AsyncIterable<Uint8Array>, place: SealPlace): AsyncGenerator<Buffer>;
  /** Proves that a holder of the ring wrote these bytes, for one purpose only. */
  sign(bytes: Buffer, purpose: string): Buffer;
  /** False also if the signing key is no longer in the ring. */
  isSigned(bytes: Buffer, purpose: string, signature: Buffer): boolean;
}

/** The first key seals, all keys open. A new key is added at the front, and an old one is kept until nothing needs it. */
export function createSeal({ keys }: { readonly keys: readonly Buffer[] }): Seal {
  const [current] = keys;
  if (current === undefined) throw new Error("At least one encryption key is needed.");
  if (keys.some((key) => key.length !== 32)) throw new Error("An encryption key has 32 bytes.");
  const currentId = keyId(current);
  // A key that is an object costs 7 µs per encryption, bytes cost 17.
  const currentKey = createSecretKey(current);
  const ring = new Map(keys.map((key) => [keyId(key).toString("hex"), createSecretKey(key)]));
  const keyOf = (head: Buffer): KeyObject => {
    const id = head.subarray(1, HEAD_BYTES).toString("hex");
    const key = ring.get(id);
    if (key === undefined)
      throw new Error(`The encryption key ${id} that sealed this is not in secrets.encryption_keys.`);
    return key;
  };
  const sealAs = (version: number, length: Buffer, contents: Buffer, place: SealPlace): Buffer => {
    const head = Buffer.concat([Buffer.of(version), currentId, length]);
    return encrypt(currentKey, head, contents, associated(head, place));
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
      const plaintext = decrypt(keyOf(head), head.length, sealed, associated(head, place));
      return isCompressed(head)
        ? zstdDecompressSync(plaintext, { maxOutputLength: plaintextBytes(head, sealed.length) })
        : plaintext;
    },
    openPieces: async function* (sealed, place) {
      const { head, body } = await readHead(sealed);
      const pieces = decryptPieces(body, keyOf(head), associated(head, place));
      if (isCompressed(head)) yield* decompressPieces(pieces);
      else yield* pieces;
    },
    sign: (bytes, purpose) => Buffer.concat([currentId, mac(current, purpose, bytes)]),
    isSigned: (bytes, purpose, signature) => {
      const key = ring.get(signature.subarray(0, KEY_ID_BYTES).toString("hex"));
      if (key === undefined) return false;
      const expected = mac(key.export(), purpose, bytes);
      const actual = signature.subarray(KEY_ID_BYTES);
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
  };
}

/** Null: compression is not worthwhile. */
async function compress(plaintext: Buffer): Promise<Buffer | null> {
  if (plaintext.length < COMPRESS_FROM_BYTES) return null;
  const isSmall = plaintext.length <= COMPRESS_HERE_BYTES;
  // With the size, zstd allocates what it needs for it: 35 instead of 48 µs for 7 kB. The default chunk of 16 KiB would be kept for what is mostly 1 kB.
  const options = { pledgedSrcSize: plaintext.length, chunkSize: Math.ceil(plaintext.length / 4) };
  const compressed = isSmall ? zstdCompressSync(plaintext, options) : await promisify(zstdCompress)(plaintext, options);
  return compressed.length + LENGTH_BYTES < plaintext.length ? compressed : null;
}

async function* decompressPieces(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // A failure reaches the reader of this stream.
  yield* pipeline(Readable.from(compressed), createZstdDecompress(), () => undefined) as AsyncIterable<Buffer>;
}

function isCompressed(head: Buffer): boolean {
  return head[0] === COMPRESSED || head[0] === LARGE_COMPRESSED;
}

/** The head of sealed bytes. Throws if they do not begin like sealed bytes. */
function headOf(sealed: Buffer): Buffer {
  const head = sealed.subarray(0, isCompressed(sealed) ? LONGEST_HEAD_BYTES : HEAD_BYTES);
  const isWhole = head.length === (isCompressed(head) ? LONGEST_HEAD_BYTES : HEAD_BYTES);
  if (!isWhole || (head[0] !== VERSION && !isCompressed(head)))
    throw new Error("These bytes are not sealed by this version.");
  return head;
}

/** Plaintext length of `sealedBytes` bytes that begin with `begin` (at least `LONGEST_HEAD_BYTES`). Not authenticated until opened. */
export function plaintextBytes(begin: Buffer, sealedBytes: number): number {
  const head = headOf(begin);
  return isCompressed(head) ? head.readUInt32BE(HEAD_BYTES) : Math.max(0, sealedBytes - SEAL_BYTES);
}

/** The head is stored unencrypted in front. Opening needs the same associated data. */
export function encrypt(key: CipherKey, head: Buffer, plaintext: Buffer, associatedData: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associatedData);
  return Buffer.concat([head, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the key, the bytes or the associated data differ. */
export function decrypt(key: CipherKey, headBytes: number, sealed: Buffer, associatedData: Buffer): Buffer {
  const bodyAt = headBytes + NONCE_BYTES;
  if (sealed.length < bodyAt + TAG_BYTES) throw new Error("These bytes are not sealed by this version.");
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(headBytes, bodyAt), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(associatedData)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(bodyAt, -TAG_BYTES)), decipher.final()]);
}

/** Reads enough of the beginning to parse the head. */
async function readHead(sealed: AsyncIterable<Uint8Array>) {
  const pieces = sealed[Symbol.asyncIterator]();
  let begin: Buffer = Buffer.alloc(0);
  while (begin.length < LONGEST_HEAD_BYTES) {
    const next = await pieces.next();
    if (next.done === true) break;
    begin = Buffer.concat([begin, next.value]);
  }
  const head = headOf(begin);
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield begin.subarray(head.length);
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return { head, body: body() };
}

async function* decryptPieces(
  sealed: AsyncIterable<Uint8Array>,
  key: KeyObject,
  associatedData: Buffer,
): AsyncGenerator<Buffer> {
  let decipher: DecipherGCM | null = null;
  // The tag is at the end, so the last bytes are held back whatever the pieces' boundaries.
  let buffered = Buffer.alloc(0);
  for await (const piece of sealed) {
    if (decipher !== null && piece.length >= TAG_BYTES) {
      yield decipher.update(buffered);
      yield decipher.update(piece.subarray(0, -TAG_BYTES));
      buffered = Buffer.from(piece.subarray(-TAG_BYTES));
      continue;
    }
    buffered = Buffer.concat([buffered, piece]);
    if (decipher === null) {
      if (buffered.length < NONCE_BYTES + TAG_BYTES) continue;
      const nonce = buffered.subarray(0, NONCE_BYTES);
      decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(associatedData);
      buffered = buffered.subarray(NONCE_BYTES);
    }
    yield decipher.update(buffered.subarray(0, -TAG_BYTES));
    buffered = buffered.subarray(-TAG_BYTES);
  }
  if (decipher === null) throw new Error("These bytes are not sealed by this version.");
  yield decipher.setAuthTag(buffered).final();
}

/** Uses a derived key, so that a sealing key never signs. */
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
