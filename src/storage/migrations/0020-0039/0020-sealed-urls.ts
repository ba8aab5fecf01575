// --! breaking: an older process reads no sealed address.
// Seals webhook addresses, which are secrets because paths and queries contain tokens [webhooks.sealed]. The key belongs to the process and
// not to the database, so the next start seals existing addresses (`storage/secrets/rotate-keys.ts`).
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `alter table webhooks alter column url drop not null`,
  `alter table webhooks add column sealed_url bytea`,
  `alter table webhooks add constraint webhooks_url_check check ((url is null) <> (sealed_url is null))`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
