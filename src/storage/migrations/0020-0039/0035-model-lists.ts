// Stores the days on which a provider's own list ends models, per connection, and when the list was last asked for by itself [providers.listed-ends].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  `create table model_lists (
    scope text not null,
    connection text not null,
    asked_at timestamptz,
    read_at timestamptz,
    ends jsonb not null default '{}',
    primary key (scope, connection),
    foreign key (scope, connection) references connections (scope, id) on delete cascade
  )`,
  // Only for ends, because asking alone changes nothing that routing uses.
  `create trigger model_lists_change_the_directory after insert or delete or update of ends on model_lists
    for each row execute function directory_has_changed()`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
