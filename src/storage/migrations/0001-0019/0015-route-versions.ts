// Creates versions of routes (draft, published, rolled back) [admin.route-versions], a credential's last characters for the API, and the
// version number by which every process sees whether its copy of the directory is current.
import { type Kysely, sql } from "kysely";

const STATEMENTS = [
  // A route without a published version has no definition and is not used.
  `alter table routes alter column definition drop not null`,
  `alter table routes alter column version drop not null`,
  `alter table routes alter column version drop default`,
  `alter table routes add column latest_version int not null default 1`,
  `update routes set latest_version = version`,
  `alter table routes add column previous_version int`,
  `alter table routes add column created_at timestamptz not null default patchbay_now()`,
  `alter table routes add constraint routes_live check ((definition is null) = (version is null))`,
  // No foreign key: versions outlive their route, so that a version number in a request record never refers to another definition.
  `create table route_versions (
    scope text not null,
    route_id text not null,
    version int not null check (version > 0),
    definition jsonb not null,
    actor_key_id text,
    created_at timestamptz not null default patchbay_now(),
    published_at timestamptz,
    primary key (scope, route_id, version)
  )`,
  `insert into route_versions (scope, route_id, version, definition, created_at, published_at)
    select scope, id, version, definition, updated_at, updated_at from routes`,
  `create function route_versions_are_fixed() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.published_at is null
        and (new.scope, new.route_id, new.version, new.definition, new.created_at)
          is not distinct from (old.scope, old.route_id, old.version, old.definition, old.created_at) then
        return new;
      end if;
      raise exception 'a version of a route never changes';
    end
  $$`,
  `create trigger route_versions_fixed before update or delete on route_versions
    for each row execute function route_versions_are_fixed()`,
  `alter table connections add column credential_last4 text`,
  `alter table connections add column created_at timestamptz not null default patchbay_now()`,
  `alter table requests add column route_version int`,
  // At most one row, and none before the first change, so that a fresh database has no rows.
  `create table directory_state (
    id boolean primary key default true check (id),
    version bigint not null
  )`,
  // A trigger, so that every kind of write is noticed. It runs as the owner, because a workspace's role may not write this table.
  `create function directory_has_changed() returns trigger language plpgsql security definer set search_path = pg_catalog, public as $$
    begin
      insert into directory_state (version) values (1) on conflict (id) do update set version = directory_state.version + 1;
      return null;
    end
  $$`,
  ...["connections", "routes", "prices"].map(
    (table) => `create trigger ${table}_change_the_directory after insert or update or delete or truncate on ${table}
      for each statement execute function directory_has_changed()`,
  ),
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
