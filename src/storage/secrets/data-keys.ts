// Seals secrets of workspaces and of the operator with AES-256-GCM under a random data key per workspace [tenancy.data-keys]. The key ring only
// wraps data keys, so that a rotation rewrites only those [tenancy.rotate].
import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { DatabaseTransaction } from "../database.ts";
import { decrypt, encrypt, type Seal, type SealPlace } from "./seal.ts";
import type { SecretPlace } from "./secret-places.ts";
import type { Tables } from "../schema/tables.ts";

/** The first byte of sealed secrets. It is 1 for bytes that the ring itself sealed. */
const FORM = 2;
const HEAD_BYTES = 3;
const KEY_BYTES = 32;
const FIRST_VERSION = 1;

/** Opens secrets that were sealed with the data keys that were read, and older ones that the ring itself sealed. */
export interface SecretOpener {
  /** Throws if the bytes were changed, belong to another place, or a key is missing. */
  open(sealed: Buffer, place: SecretPlace): string;
}

export interface DataKeyRow {
  readonly scope: string;
  readonly version: number;
  readonly wrapped: Buffer;
}

/** Reads the data keys of one owner, or all (null) for callers with access to every workspace. */
export async function readDataKeys(
  db: Pick<Kysely<Tables>, "selectFrom">,
  ring: Seal,
  scope: string | null,
): Promise<SecretOpener> {
  const all = db.selectFrom("data_keys").select(["scope", "version", "wrapped"]);
  return openerWith(await (scope === null ? all : all.where("scope", "=", scope)).execute(), ring);
}

/** For keys that were read with other rows. */
export function openerWith(rows: readonly DataKeyRow[], ring: Seal): SecretOpener {
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

/** Seals with the newest data key of the place's owner, and creates the first one if there is none. */
export async function sealSecret(
  tx: DatabaseTransaction,
  ring: Seal,
  place: SecretPlace,
  secret: string,
): Promise<Buffer> {
  const { version, key } = (await newestKey(tx, ring, place.scope)) ?? (await createKey(tx, ring, place.scope));
  const head = Buffer.alloc(HEAD_BYTES, FORM);
  head.writeUInt16BE(version, 1);
  return encrypt(key, head, Buffer.from(secret, "utf8"), associated(head, place));
}

/** Whether the ring itself sealed the bytes, as before data keys existed. */
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

async function newestKey(tx: DatabaseTransaction, ring: Seal, scope: string): Promise<DataKey | null> {
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

/** Concurrent calls wait for the first and use its key. Not cached, because the transaction may roll back. */
async function createKey(tx: DatabaseTransaction, ring: Seal, scope: string): Promise<DataKey> {
  const key = randomBytes(KEY_BYTES);
  await tx
    .insertInto("data_keys")
    .values({ scope, version: FIRST_VERSION, wrapped: ring.seal(key, wrappingPlace(scope, FIRST_VERSION)) })
    .onConflict((conflict) => conflict.columns(["scope", "version"]).doNothing())
    .execute();
  const newKey = await newestKey(tx, ring, scope);
  if (newKey === null) throw new Error("a data key that was just made is gone");
  return newKey;
}

function associated(head: Buffer, { scope, object, field }: SecretPlace): Buffer {
  return Buffer.concat([head, Buffer.from(JSON.stringify([scope, object, field]))]);
}

function nameOf(scope: string, version: number): string {
  return `${scope}/${version}`;
}
