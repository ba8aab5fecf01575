// Makes the audit log a hash chain per workspace and one for the installation [tenancy.audit-chain], records which key replaced which
// [keys.rotate], and creates an operator's credit grants to workspaces [budgets.credits-grant].
import { type Kysely, sql } from "kysely";

/** Hashes all columns of a row, each with a length prefix, so that no two rows have the same encoding. `audit-chain.ts` must match it. */
const LINK = (row: string) =>
  `sha256(${row}.previous_hash || convert_to(${[
    `${row}.chain`,
    `${row}.seq::text`,
    `${row}.id::text`,
    `${row}.workspace_id`,
    // Binary (microseconds since 2000), because the text form depends on session settings.
    `encode(timestamptz_send(${row}.at), 'hex')`,
    `${row}.actor_key_id`,
    `${row}.action`,
    `${row}.object`,
    `${row}.before::text`,
    `${row}.after::text`,
  ]
    .map((part) => `audit_part(${part})`)
    .join(" || ")}, 'UTF8'))`;

const STATEMENTS = [
  // The scope is `platform` or a workspace's id, as in `connections`.
  `create table audit_heads (
    scope text primary key,
    seq bigint not null,
    hash bytea not null
  )`,
  `create function audit_part(part text) returns text language sql immutable parallel safe as $$
    select case when part is null then '~,' else octet_length(convert_to(part, 'UTF8')) || ':' || part || ',' end
  $$`,
  // The chain is a workspace's id or `platform`. The first row of a chain has no predecessor.
  `alter table audit_log
    add column chain text,
    add column seq bigint,
    add column previous_hash bytea,
    add column hash bytea`,
  `create function audit_log_link() returns trigger language plpgsql as $$
    begin
      new.chain := coalesce(new.workspace_id, 'platform');
      insert into audit_heads (scope, seq, hash) values (new.chain, 0, ''::bytea) on conflict do nothing;
      -- Held to the end of the transaction: the rows of a chain come one after another.
      select seq + 1, hash into new.seq, new.previous_hash from audit_heads where scope = new.chain for update;
      new.hash := ${LINK("new")};
      update audit_heads set seq = new.seq, hash = new.hash where scope = new.chain;
      return new;
    end
  $$`,
  // Adds earlier rows to their chains unchanged.
  `drop trigger audit_log_append_only on audit_log`,
  `do $$
    declare
      entry audit_log%rowtype;
    begin
      for entry in select * from audit_log order by id loop
        entry.chain := coalesce(entry.workspace_id, 'platform');
        insert into audit_heads (scope, seq, hash) values (entry.chain, 0, ''::bytea) on conflict do nothing;
        select seq + 1, hash into entry.seq, entry.previous_hash from audit_heads where scope = entry.chain;
        entry.hash := ${LINK("entry")};
        update audit_heads set seq = entry.seq, hash = entry.hash where scope = entry.chain;
        update audit_log set chain = entry.chain, seq = entry.seq, previous_hash = entry.previous_hash, hash = entry.hash
          where id = entry.id;
      end loop;
    end
  $$`,
  `alter table audit_log
    alter column chain set not null,
    alter column seq set not null,
    alter column previous_hash set not null,
    alter column hash set not null`,
  `create unique index audit_log_chain on audit_log (chain, seq)`,
  `create index audit_log_at on audit_log (at)`,
  `create trigger audit_log_append_only before update or delete or truncate on audit_log
    for each statement execute function audit_log_is_append_only()`,
  `create trigger audit_log_link before insert on audit_log for each row execute function audit_log_link()`,
  // The key that a rotated key replaces.
  `alter table api_keys add column replaces text`,
  // Credits in addition to the plan's. A negative amount takes credits back.
  `create table credit_grants (
    id text primary key,
    workspace_id text not null references workspaces (id) on delete cascade,
    nano_usd bigint not null check (nano_usd <> 0),
    note text not null,
    actor_key_id text not null,
    created_at timestamptz not null default patchbay_now()
  )`,
  `create index credit_grants_workspace on credit_grants (workspace_id, id)`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
