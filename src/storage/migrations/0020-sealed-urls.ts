// --! breaking: an older process reads no sealed address.
// The address of a webhook is a secret, because tokens are in paths and queries: it is sealed [webhooks.sealed]. The key is the process's
// and not the database's: existing addresses are sealed by the start that follows (`storage/rotate-keys.ts`).
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `alter table webhooks alter column url drop not null`,
  `alter table webhooks add column sealed_url bytea`,
  `alter table webhooks add constraint webhooks_url_check check ((url is null) <> (sealed_url is null))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
