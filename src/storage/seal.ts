// Encryption at rest: AES-256-GCM, the key's id inside the sealed bytes, and associated data that ties them to their place:
// moved to another tenant, row or field they do not open (contract 10, reliability 6).
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
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

const VERSION = 1;
/** The plaintext was compressed with zstd before it was encrypted. 2 is the form of data keys (data-keys.ts). */
const COMPRESSED = 3;
/** Smaller ones gain little. Measured: the transcript of 400 words with word times takes 43 kB as JSON and 7 kB compressed. */
const COMPRESS_FROM_BYTES = 1_024;
const COMPRESS_UP_TO_BYTES = 1024 * 1024;
/** What is larger is read in pieces, whose total length has to be known before they are opened. */
const LARGEST_COMPRESSED_BYTES = 60 * 1024;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES;
/** By which sealed bytes are longer. */
export const SEAL_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES;

/** Where the sealed bytes live, for example `["jobs.result", workspaceId, jobId]`; the parts cannot run into one another. */
export type SealPlace = readonly string[];

export interface Seal {
  /** Of the keys in the ring, the one that seals first; bytes 2 to 5 of what each of them sealed. */
  readonly keyIds: readonly string[];
  seal(plaintext: Buffer, place: SealPlace): Buffer;
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
    if (head.length < HEAD_BYTES || (head[0] !== VERSION && head[0] !== COMPRESSED))
      throw new Error("These bytes are not sealed by this version.");
    const id = head.subarray(1).toString("hex");
    const key = ring.get(id);
    if (key === undefined)
      throw new Error(`The encryption key ${id} that sealed this is not in secrets.encryption_keys.`);
    return key;
  };
  return {
    keyIds: [...ring.keys()],
    seal: (plaintext, place) => {
      const compressed = compress(plaintext);
      const head = Buffer.concat([Buffer.of(compressed === null ? VERSION : COMPRESSED), keyId(current)]);
      return encrypt(current, head, compressed ?? plaintext, associated(head, place));
    },
    open: (sealed, place) => {
      const head = sealed.subarray(0, HEAD_BYTES);
      const opened = decrypt(keyOf(head), HEAD_BYTES, sealed, associated(head, place));
      return head[0] === COMPRESSED ? zstdDecompressSync(opened) : opened;
    },
    openPieces: async function* (sealed, place) {
      let isCompressed = false;
      const pieces = decryptPieces(sealed, (head) => {
        isCompressed = head[0] === COMPRESSED;
        return { key: keyOf(head), associatedData: associated(head, place) };
      });
      const held: Buffer[] = [];
      for await (const piece of pieces) {
        if (isCompressed) held.push(piece);
        else yield piece;
      }
      if (isCompressed) yield zstdDecompressSync(Buffer.concat(held));
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
function compress(plaintext: Buffer): Buffer | null {
  if (plaintext.length < COMPRESS_FROM_BYTES || plaintext.length > COMPRESS_UP_TO_BYTES) return null;
  const compressed = zstdCompressSync(plaintext);
  return compressed.length < plaintext.length && compressed.length <= LARGEST_COMPRESSED_BYTES ? compressed : null;
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

async function* decryptPieces(
  sealed: AsyncIterable<Uint8Array>,
  open: (head: Buffer) => { readonly key: Buffer; readonly associatedData: Buffer },
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
      if (rest.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES) continue;
      const { key, associatedData } = open(rest.subarray(0, HEAD_BYTES));
      const nonce = rest.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
      decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(associatedData);
      rest = rest.subarray(HEAD_BYTES + NONCE_BYTES);
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
