// Stores idempotency slots, which are reserved, then dispatched, then completed or burned [idempotency.write-ahead]. Every write is conditional
// on owner and state, so that the database decides each race, and reports whether it changed a row [idempotency.fencing].
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { AppId, WorkspaceId } from "../contract/ids.ts";
import { runInBatches } from "../lib/concurrency/run-in-batches.ts";
import { PREPARED } from "./connection/prepared.ts";
import { isReadWithRow, type PieceRange, readPieces } from "./read-pieces.ts";
import { LONGEST_HEAD_BYTES, type Seal } from "./secrets/seal.ts";
import type { SystemHandle } from "./database.ts";
import type { Tables } from "./schema/tables.ts";

/** A claimed slot. `owner` is a fencing token, new for each claim. */
export interface SlotRef {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keySha256: Buffer;
  readonly owner: string;
}

/** A stored answer: sealed in the row and replayed byte for byte. */
export interface StoredReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An answer to store. */
export type NewReply = Omit<StoredReply, "body"> & { readonly body: string | Buffer };

/** A larger answer is not stored: the slot is burned instead. */
export const MAX_STORED_BODY_BYTES = 8 * 1024 * 1024;
const SLOT_LEASE_SECONDS = 30;

export interface SlotClaim {
  readonly ref: SlotRef;
  readonly endpoint: string;
  readonly fingerprint: Buffer;
  readonly ttlSeconds: number;
}

/** Only a completed slot has an answer, which a check constraint ensures. */
export type SlotRow = { readonly sameRequest: boolean; readonly lapsed: boolean } & (
  | { readonly state: "reserved" | "dispatched" | "burned" }
  | ({ readonly state: "completed" } & Omit<StoredReply, "body"> & {
        /** Length of the sealed body. */
        readonly bodyBytes: number;
        readonly bodyBegin: Buffer;
        /** Null: the body is large and is read in pieces (`readStoredPieces`). */
        readonly body: Buffer | null;
      })
);

type Handle = Kysely<Tables>;

const lease = sql`patchbay_now() + ${sql.lit(SLOT_LEASE_SECONDS)} * interval '1 second'`;

/** No request uses the slot. A key that expires during its request is kept until the request ends. */
const IS_IDLE = sql`(slot.state not in ('reserved', 'dispatched') or slot.lease_until <= patchbay_now())`;

/** True if the key was free, expired, or had a reservation with a lapsed lease of its owner. */
export async function insertSlot(db: Handle, { ref, endpoint, fingerprint, ttlSeconds }: SlotClaim): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotency_slots as slot (app_id, key_sha256, workspace_id, endpoint, fingerprint, state, owner, lease_until, created_at, expires_at)
    values (${ref.appId}, ${ref.keySha256}, ${ref.workspaceId}, ${endpoint}, ${fingerprint}, 'reserved', ${ref.owner}, ${lease},
      patchbay_now(), patchbay_now() + ${ttlSeconds}::float8 * interval '1 second')
    on conflict (app_id, key_sha256) do update set
      workspace_id = excluded.workspace_id, endpoint = excluded.endpoint, fingerprint = excluded.fingerprint, state = 'reserved',
      owner = excluded.owner, lease_until = excluded.lease_until, status = null, headers = null, body = null,
      created_at = excluded.created_at, expires_at = excluded.expires_at
    where (slot.expires_at <= patchbay_now() or slot.state = 'reserved') and ${IS_IDLE}
    returning slot.owner`.execute(db);
  return rows.length > 0;
}

/** Null: there is no slot, or it has just expired. */
export async function readSlot(db: Handle, { ref, endpoint, fingerprint }: SlotClaim): Promise<SlotRow | null> {
  const { rows } = await sql<SlotRow>`
    select state, endpoint = ${endpoint} and fingerprint = ${fingerprint} as "sameRequest", lease_until <= patchbay_now() as lapsed,
      status, headers, octet_length(body) as "bodyBytes", substring(body from 1 for ${sql.lit(LONGEST_HEAD_BYTES)}) as "bodyBegin",
      case when ${isReadWithRow(sql.ref("body"))} then body end as body
    from idempotency_slots as slot
    where workspace_id = ${ref.workspaceId} and app_id = ${ref.appId} and key_sha256 = ${ref.keySha256}
      and (expires_at > patchbay_now() or not ${IS_IDLE})`.execute(db);
  return rows[0] ?? null;
}

/** Burns a dispatched slot after its owner's lease lapsed, because its outcome will never be known. */
export async function burnLapsedSlot(db: Handle, ref: Omit<SlotRef, "owner">): Promise<void> {
  await sql`update idempotency_slots set state = 'burned'
    where app_id = ${ref.appId} and key_sha256 = ${ref.keySha256} and state = 'dispatched' and lease_until <= patchbay_now()`.execute(
    db,
  );
}

/** Frees the key: nothing was dispatched, or all that was dispatched has definitely failed. */
export async function releaseSlots(db: Handle, refs: readonly SlotRef[]): Promise<void> {
  if (refs.length === 0) return;
  await sql`delete from idempotency_slots using ${slotList(refs)}
    where ${isHeld} and idempotency_slots.state in ('reserved', 'dispatched')`.execute(db);
}

export async function burnSlots(db: Handle, refs: readonly SlotRef[]): Promise<void> {
  if (refs.length === 0) return;
  await sql`update idempotency_slots set state = 'burned' from ${slotList(refs)}
    where ${isHeld} and idempotency_slots.state in ('reserved', 'dispatched')`.execute(db);
}

/** Commit this before the first byte is sent to a provider. Returns the owners that still hold their slot. */
export async function dispatchSlots(db: Handle, refs: readonly SlotRef[]): Promise<ReadonlySet<string>> {
  if (refs.length === 0) return new Set();
  const { rows } = await sql<{ owner: string }>`
    update idempotency_slots set state = 'dispatched', lease_until = ${lease} from ${slotList(refs)}
    where ${isHeld} and idempotency_slots.state in ('reserved', 'dispatched')
    returning idempotency_slots.owner as owner`.execute(db);
  return new Set(rows.map((row) => row.owner));
}

/** Returns the owners that still hold their slot. A missing owner has completed or lost it. */
export async function renewSlots(db: SystemHandle, refs: readonly SlotRef[]): Promise<ReadonlySet<string>> {
  if (refs.length === 0) return new Set();
  // A lapsed lease is renewed too unless another process has acted on it, because its owner is evidently alive. A row that another statement
  // has locked is being dispatched or ended now; waiting for several of them could deadlock.
  await sql`update idempotency_slots set lease_until = ${lease} where ctid in (
    select idempotency_slots.ctid from idempotency_slots join ${slotList(refs)} on ${isHeld}
    where idempotency_slots.state in ('reserved', 'dispatched') for update of idempotency_slots skip locked)`.execute(
    db,
  );
  const { rows } = await sql<{ owner: string }>`
    select idempotency_slots.owner as owner from idempotency_slots join ${slotList(refs)} on ${isHeld}
    where idempotency_slots.state in ('reserved', 'dispatched')`.execute(db);
  return new Set(rows.map((row) => row.owner));
}

/** False: this owner no longer holds the slot, or the body is too large to store and the slot was burned. */
export async function completeSlot(db: Handle, seal: Seal, ref: SlotRef, reply: NewReply): Promise<boolean> {
  const body = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
  if (body.length > MAX_STORED_BODY_BYTES) {
    await burnSlots(db, [ref]);
    return false;
  }
  const { numAffectedRows } = await sql`
    update idempotency_slots set state = 'completed', status = ${reply.status}, headers = ${JSON.stringify(reply.headers)}::jsonb,
      body = ${await seal.sealCompressed(body, placeOf(ref))}
    where workspace_id = ${ref.workspaceId} and app_id = ${ref.appId} and key_sha256 = ${ref.keySha256} and owner = ${ref.owner} and state = 'dispatched'`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

export function openStoredBody(seal: Seal, ref: Omit<SlotRef, "owner">, body: Buffer): Buffer {
  return seal.open(body, placeOf(ref));
}

/** Like `openStoredBody`, for sealed pieces. They are authenticated once the last one was read. */
export function openStoredPieces(
  seal: Seal,
  ref: Omit<SlotRef, "owner">,
  pieces: AsyncIterable<Uint8Array>,
): AsyncIterable<Buffer> {
  return seal.openPieces(pieces, placeOf(ref));
}

/** Null: the answer was deleted. */
export function readStoredPieces(
  db: Handle,
  { workspaceId, appId, keySha256 }: Omit<SlotRef, "owner">,
  range: PieceRange,
): Promise<readonly Buffer[] | null> {
  return readPieces(db, range, {
    column: sql.ref("body"),
    rows: sql`idempotency_slots`,
    where: sql`workspace_id = ${workspaceId} and app_id = ${appId} and key_sha256 = ${keySha256} and state = 'completed'`,
  });
}

export interface SlotSweep {
  readonly burned: number;
  readonly released: number;
  readonly purged: number;
}

const SWEPT_AT_ONCE = 1_000;
const LAPSED = sql`lease_until <= patchbay_now()`;

/** Sweeps all due slots; every process calls it every 10 s. Rows that are locked elsewhere are left to the next round. */
export async function sweepSlots(db: SystemHandle, stopping?: AbortSignal): Promise<SlotSweep> {
  const sweep = (change: RawBuilder<unknown>, due: RawBuilder<unknown>) => {
    const batch = async (): Promise<number> => {
      const { numAffectedRows } = await sql`${change} where ctid in (
        select ctid from idempotency_slots as slot where ${due} limit ${sql.lit(SWEPT_AT_ONCE)} for update skip locked)`.execute(
        db,
      );
      return Number(numAffectedRows ?? 0n);
    };
    return runInBatches(SWEPT_AT_ONCE, batch, stopping);
  };
  return {
    burned: await sweep(sql`update idempotency_slots set state = 'burned'`, sql`state = 'dispatched' and ${LAPSED}`),
    released: await sweep(sql`delete from idempotency_slots`, sql`state = 'reserved' and ${LAPSED}`),
    purged: await sweep(sql`delete from idempotency_slots`, sql`expires_at <= patchbay_now() and ${IS_IDLE}`),
  };
}

const isHeld = sql`idempotency_slots.workspace_id = held.workspace_id and idempotency_slots.app_id = held.app_id
  and idempotency_slots.key_sha256 = decode(held.key, 'hex') and idempotency_slots.owner = held.owner`;

function slotList(refs: readonly SlotRef[]) {
  const list = refs.map((ref) => ({
    workspace_id: ref.workspaceId,
    app_id: ref.appId,
    key: ref.keySha256.toString("hex"),
    owner: ref.owner,
  }));
  return sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as held (workspace_id text, app_id text, key text, owner text)`;
}

function placeOf(ref: Omit<SlotRef, "owner">): readonly string[] {
  return ["idempotency_slots.body", ref.workspaceId, ref.appId, ref.keySha256.toString("hex")];
}

/** A slot to complete in the transaction that does all of its request's work, such as a job's submission. */
export interface SlotCompletion {
  readonly ref: SlotRef;
  readonly reply: NewReply;
  readonly expiresAt: Date;
}

/** Returns the owners whose reserved slots were completed. A missing one no longer holds its slot. */
export async function completeReservedSlots(
  tx: Handle,
  seal: Seal,
  completions: readonly SlotCompletion[],
): Promise<ReadonlySet<string>> {
  if (completions.length === 0) return new Set();
  const list = await Promise.all(
    completions.map(async ({ ref, reply, expiresAt }) => {
      const body = typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
      return {
        workspace_id: ref.workspaceId,
        app_id: ref.appId,
        key: ref.keySha256.toString("hex"),
        owner: ref.owner,
        status: reply.status,
        headers: reply.headers,
        body: (await seal.sealCompressed(body, placeOf(ref))).toString("hex"),
        expires_at: expiresAt.toISOString(),
      };
    }),
  );
  const { rows } = await sql<{ owner: string }>`${PREPARED}
    with held as materialized (select * from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as held (workspace_id text, app_id text,
      key text, owner text, status int, headers jsonb, body text, expires_at timestamptz))
    update idempotency_slots set state = 'completed', lease_until = ${lease}, status = held.status, headers = held.headers,
      body = decode(held.body, 'hex'), expires_at = held.expires_at
    from held where idempotency_slots.app_id = any(array(select app_id from held)) and ${isHeld}
      and idempotency_slots.state in ('reserved', 'dispatched')
    returning idempotency_slots.owner as owner`.execute(tx);
  return new Set(rows.map((row) => row.owner));
}
