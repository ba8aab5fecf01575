// Secrets of workspaces and of the operator, sealed with AES-256-GCM under a random data key of the workspace's own [tenancy.data-keys].
// The key ring only wraps data keys, so that changing a ring's key writes nothing but those [tenancy.rotate].
import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { Transacting } from "./database.ts";
import { decrypt, encrypt, type Seal, type SealPlace } from "./seal.ts";
import type { SecretPlace } from "./secret-places.ts";
import type { Tables } from "./tables.ts";

/** The first byte; the ring's own is 1. */
const FORM = 2;
const HEAD_BYTES = 3;
const KEY_BYTES = 32;
const FIRST_VERSION = 1;

/** Opens what the data keys that were read have sealed, and what the ring itself did before there were any. */
export interface SecretOpener {
  /** Throws when the bytes were changed or belong elsewhere, or a key is missing. */
  open(sealed: Buffer, place: SecretPlace): string;
}

/** Of one owner, or of all (null), for whoever may see them. */
export async function readDataKeys(
  db: Pick<Kysely<Tables>, "selectFrom">,
  ring: Seal,
  scope: string | null,
): Promise<SecretOpener> {
  const all = db.selectFrom("data_keys").select(["scope", "version", "wrapped"]);
  const rows = await (scope === null ? all : all.where("scope", "=", scope)).execute();
  const wrapped = new Map(rows.map((row) => [nameOf(row.scope, row.version), row.wrapped]));
  const unwrapped = new Map<string, Buffer>();
  const keyOf = (owner: string, version: number): Buffer => {
    const name = nameOf(owner, version);
    const sealed = wrapped.get(name);
    if (sealed === undefined) throw new Error(`There is no data key ${version} of ${owner}.`);
    const key = unwrapped.get(name) ?? ring.open(sealed, wrappingPlace(owner, version));
    unwrapped.set(name, key);
    return key;
  };
  return {
    open: (sealed, place) => {
      if (sealed[0] !== FORM) return ring.open(sealed, place.before).toString("utf8");
      const head = sealed.subarray(0, HEAD_BYTES);
      if (head.length < HEAD_BYTES) throw new Error("These bytes are not sealed by this version.");
      const key = keyOf(place.scope, head.readUInt16BE(1));
      return decrypt(key, HEAD_BYTES, sealed, associated(head, place)).toString("utf8");
    },
  };
}

/** Under the newest data key of the place's owner, which is made here where there is none. */
export async function sealSecret(tx: Transacting, ring: Seal, place: SecretPlace, secret: string): Promise<Buffer> {
  const { version, key } = (await newestKey(tx, ring, place.scope)) ?? (await makeKey(tx, ring, place.scope));
  const head = Buffer.alloc(HEAD_BYTES, FORM);
  head.writeUInt16BE(version, 1);
  return encrypt(key, head, Buffer.from(secret, "utf8"), associated(head, place));
}

/** Sealed by the ring itself, as all was before there were data keys. */
export function isSealedByRing(sealed: Buffer): boolean {
  return sealed[0] !== FORM;
}

export function wrappingPlace(scope: string, version: number): SealPlace {
  return ["data-key", scope, String(version)];
}

interface DataKey {
  readonly version: number;
  readonly key: Buffer;
}

async function newestKey(tx: Transacting, ring: Seal, scope: string): Promise<DataKey | null> {
  const row = await tx
    .selectFrom("data_keys")
    .select(["version", "wrapped"])
    .where("scope", "=", scope)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { version: row.version, key: ring.open(row.wrapped, wrappingPlace(scope, row.version)) };
}

/** Two at once: the later one waits for the earlier, and takes its key. Never remembered: a transaction may not commit. */
async function makeKey(tx: Transacting, ring: Seal, scope: string): Promise<DataKey> {
  const key = randomBytes(KEY_BYTES);
  await tx
    .insertInto("data_keys")
    .values({ scope, version: FIRST_VERSION, wrapped: ring.seal(key, wrappingPlace(scope, FIRST_VERSION)) })
    .onConflict((conflict) => conflict.columns(["scope", "version"]).doNothing())
    .execute();
  const made = await newestKey(tx, ring, scope);
  if (made === null) throw new Error("a data key that was just made is gone");
  return made;
}

function associated(head: Buffer, { scope, object, field }: SecretPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([scope, object, field]))]);
}

function nameOf(scope: string, version: number): string {
  return `${scope}/${version}`;
}
