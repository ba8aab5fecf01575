// Creates manual pauses of an account, or of a model on it, until a time [admin.pause]. Also counts how often a job was parked because all its
// targets were paused, which is not an attempt [jobs.attempts-exhausted].
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  // A null model means all models of the connection.
  `create table connection_pauses (
    scope text not null,
    connection text not null,
    model text,
    ends_at timestamptz not null,
    reason text,
    actor_key_id text not null,
    created_at timestamptz not null default patchbay_now(),
    constraint connection_pauses_place unique nulls not distinct (scope, connection, model),
    foreign key (scope, connection) references connections (scope, id) on delete cascade
  )`,
  // A row-level trigger, so that a sweep that finds nothing does not make every process reload its directory.
  `create trigger connection_pauses_change_the_directory after insert or update or delete on connection_pauses
    for each row execute function directory_has_changed()`,
  `alter table jobs add column laid_aside int not null default 0`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
