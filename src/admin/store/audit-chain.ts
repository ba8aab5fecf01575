// Reads the audit log's hash chains for verification [tenancy.audit-tampering]. The hash is computed here a second time, independently of the
// database's trigger, so that a database that was tampered with does not verify itself.
import { hash } from "node:crypto";
import type { SystemHandle } from "../../storage/database.ts";
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../storage/schema/tables.ts";

type Handle = Kysely<Tables>;

export const PLATFORM_CHAIN = "platform";

export interface ChainHead {
  readonly chain: string;
  readonly seq: bigint;
  /** In hexadecimal, as all hashes in this file. */
  readonly hash: string;
}

export interface ChainLink {
  readonly chain: string;
  readonly seq: bigint;
  readonly id: string;
  readonly workspaceId: string | null;
  readonly previousHash: string;
  readonly hash: string;
  /** The hash that the row should have. */
  readonly computed: string;
}

/** Without `chain`: the heads of all chains. */
export async function readHeads(db: SystemHandle, chain?: string): Promise<readonly ChainHead[]> {
  const all = db.selectFrom("audit_heads").selectAll().orderBy("scope");
  const rows = await (chain === undefined ? all : all.where("scope", "=", chain)).execute();
  return rows.map(({ scope, seq, hash: head }) => ({ chain: scope, seq, hash: Buffer.from(head).toString("hex") }));
}

/** Every chain that has a row or a head. */
export async function readChains(db: SystemHandle): Promise<readonly string[]> {
  const { rows } = await sql<{ chain: string }>`
    select scope as chain from audit_heads union select distinct chain from audit_log order by chain`.execute(db);
  return rows.map(({ chain }) => chain);
}

/** Rows of a chain after a position, in order. The position includes the id, because a forged row may share its number with another. */
export async function readLinks(
  db: Handle,
  chain: string,
  after: { readonly seq: bigint; readonly id: string } | null,
  limit: number,
): Promise<readonly ChainLink[]> {
  const { rows } = await sql<Row>`
    select chain, seq::text, id::text, workspace_id, encode(timestamptz_send(at), 'hex') as at, actor_key_id, action, object,
      before::text as before, after::text as after, encode(previous_hash, 'hex') as previous_hash, encode(hash, 'hex') as hash
    from audit_log
    where chain = ${chain} and ${after === null ? sql`true` : sql`(seq, id) > (${after.seq.toString()}::bigint, ${after.id}::bigint)`}
    order by audit_log.seq, audit_log.id limit ${limit}`.execute(db);
  return rows.map((row) => ({
    chain: row.chain,
    seq: BigInt(row.seq),
    id: row.id,
    workspaceId: row.workspace_id,
    previousHash: row.previous_hash,
    hash: row.hash,
    computed: linkHash(row),
  }));
}

interface Row {
  readonly chain: string;
  readonly seq: string;
  readonly id: string;
  readonly workspace_id: string | null;
  readonly at: string;
  readonly actor_key_id: string | null;
  readonly action: string;
  readonly object: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly previous_hash: string;
  readonly hash: string;
}

function linkHash(row: Row): string {
  const parts = [
    row.chain,
    row.seq,
    row.id,
    row.workspace_id,
    row.at,
    row.actor_key_id,
    row.action,
    row.object,
    row.before,
    row.after,
  ];
  const text = parts.map((part) => (part === null ? "~," : `${Buffer.byteLength(part)}:${part},`)).join("");
  return hash("sha256", Buffer.concat([Buffer.from(row.previous_hash, "hex"), Buffer.from(text)]), "hex");
}
