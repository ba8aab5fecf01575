// Adds fetches of `audio.url` to the quotas that all processes share.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `alter table quota_counts drop constraint quota_counts_unit_check,
        add constraint quota_counts_unit_check check (unit in ('requests', 'audio', 'tokens', 'concurrent', 'url_fetches'))`,
    )
    .execute(db);
}
