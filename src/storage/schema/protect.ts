// Sets up forced row-level security with its roles and grants [tenancy.row-level-security]. The schema's owner runs this at every start after the
// migrations, because roles belong to a server and not to a database: a restored database has none.
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { ADVISORY_LOCKS } from "../connection/advisory-locks.ts";
import { type Roles, rolesOf } from "./tenant-roles.ts";
import { SHARED_TABLES, TENANT_TABLES, type TenantTable } from "./tenant-tables.ts";

/** Null: the owner may not create roles, so only the policies distinguish a bound transaction from others. */
export type TenantRole = string | null;

interface Policy {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
  readonly mark: string;
}

/** `login` is the role that the process connects as, if it is not the owner. */
export async function protect<T>(owner: Kysely<T>, login: string | null = null): Promise<TenantRole> {
  return owner.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCKS.protect)})`.execute(tx);
    const roles = await prepareRoles(tx, login);
    await forceSecurity(tx);
    for (const policy of await missingPolicies(tx, roles)) await putPolicy(tx, policy);
    if (roles !== null) await grantTables(tx, roles);
    else if (login !== null) await grantAll(tx, login);
    return roles?.tenant ?? null;
  });
}

async function prepareRoles<T>(tx: Kysely<T>, login: string | null): Promise<Roles | null> {
  const { rows } = await sql<{ owner: string; me: string; is_able: boolean; is_owner: boolean }>`
    select pg_get_userbyid(c.relowner) as owner, current_user as me, r.rolsuper or r.rolcreaterole as is_able,
      pg_has_role(c.relowner, 'usage') as is_owner
    from pg_class c, pg_roles r where c.oid = 'public.workspaces'::regclass and r.rolname = current_user`.execute(tx);
  const [ownership] = rows;
  if (ownership === undefined) throw new Error("the database has no table of workspaces");
  if (!ownership.is_owner)
    throw new Error(
      `The tables belong to ${ownership.owner}, and ${ownership.me} may not change them. Set storage.migrate_url to a login of ${ownership.owner}.`,
    );
  const roles = rolesOf(ownership.owner);
  for (const role of [roles.tenant, roles.system]) {
    const existing = await sql`select from pg_roles where rolname = ${role}`.execute(tx);
    if (existing.rows.length > 0) continue;
    if (!ownership.is_able) return null;
    await sql`create role ${sql.id(role)} nologin`.execute(tx);
  }
  // The owner too, because forced row-level security would hide all rows from it during migrations.
  for (const member of new Set([ownership.owner, ownership.me, login ?? ownership.me]))
    await makeMember(tx, roles, member);
  return roles;
}

async function makeMember<T>(tx: Kysely<T>, roles: Roles, member: string): Promise<void> {
  const { rows } = await sql<{ role: string }>`
    select role from unnest(${[roles.tenant, roles.system]}::text[]) as role where not pg_has_role(${member}::name, role::name, 'usage')`.execute(
    tx,
  );
  for (const { role } of rows) await sql`grant ${sql.id(role)} to ${sql.id(member)}`.execute(tx);
}

async function forceSecurity<T>(tx: Kysely<T>): Promise<void> {
  const names = TENANT_TABLES.map(({ table }) => table);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relname = any(${names}::text[])
      and not (relrowsecurity and relforcerowsecurity)`.execute(tx);
  for (const { name } of rows) {
    await sql`alter table ${sql.id(name)} enable row level security`.execute(tx);
    await sql`alter table ${sql.id(name)} force row level security`.execute(tx);
  }
}

async function missingPolicies<T>(tx: Kysely<T>, roles: Roles | null): Promise<readonly Policy[]> {
  const { rows } = await sql<{ place: string; mark: string | null }>`
    select c.relname || '/' || p.polname as place, obj_description(p.oid, 'pg_policy') as mark
    from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = 'public'::regnamespace`.execute(tx);
  const present = new Map(rows.map(({ place, mark }) => [place, mark]));
  return TENANT_TABLES.flatMap((table) => policiesOf(table, roles)).filter(
    ({ name, table, mark }) => present.get(`${table}/${name}`) !== mark,
  );
}

function policiesOf({ table, own, shared }: TenantTable, roles: Roles | null): readonly Policy[] {
  const grantee = roles === null ? { tenant: "public", system: "public" } : quoted(roles);
  // Without roles, a transaction that is bound to no workspace is the system.
  const everything = roles === null ? "coalesce(current_setting('patchbay.workspace', true), '') = ''" : "true";
  return [
    { name: "tenant", definition: `for all to ${grantee.tenant} using (${own}) with check (${own})` },
    ...(shared === undefined
      ? []
      : [{ name: "tenant_shared", definition: `for select to ${grantee.tenant} using (${shared})` }]),
    { name: "system", definition: `for all to ${grantee.system} using (${everything}) with check (${everything})` },
  ].map((policy) => ({
    ...policy,
    table,
    mark: createHash("sha256").update(policy.definition).digest("hex").slice(0, 16),
  }));
}

function quoted({ tenant, system }: Roles): Roles {
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
  return { tenant: quote(tenant), system: quote(system) };
}

async function putPolicy<T>(tx: Kysely<T>, { name, table, definition, mark }: Policy): Promise<void> {
  await sql`drop policy if exists ${sql.id(name)} on ${sql.id(table)}`.execute(tx);
  await sql`create policy ${sql.id(name)} on ${sql.id(table)} ${sql.raw(definition)}`.execute(tx);
  // The server rewrites a policy's expression, so a hash in its comment identifies its definition.
  await sql`comment on policy ${sql.id(name)} on ${sql.id(table)} is ${sql.lit(mark)}`.execute(tx);
}

async function grantTables<T>(tx: Kysely<T>, { tenant, system }: Roles): Promise<void> {
  await grantAll(tx, system);
  await grantWhereMissing(
    tx,
    tenant,
    "insert",
    "select, insert, update, delete",
    TENANT_TABLES.map(({ table }) => table),
  );
  await grantWhereMissing(tx, tenant, "select", "select", SHARED_TABLES);
}

async function grantAll<T>(tx: Kysely<T>, role: string): Promise<void> {
  await grantWhereMissing(tx, role, "insert", "select, insert, update, delete", null);
}

/** Grants only what is missing, because repeated grants would make every start write to the catalogue. */
async function grantWhereMissing<T>(
  tx: Kysely<T>,
  role: string,
  sign: string,
  privileges: string,
  only: readonly string[] | null,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and (${only}::text[] is null or relname = any(${only}::text[])) and not has_table_privilege(${role}::name, oid, ${sign}::text)`.execute(
    tx,
  );
  if (rows.length === 0) return;
  await sql`grant usage on schema public to ${sql.id(role)}`.execute(tx);
  await sql`grant execute on all functions in schema public to ${sql.id(role)}`.execute(tx);
  for (const { name } of rows)
    await sql`grant ${sql.raw(privileges)} on ${sql.id(name)} to ${sql.id(role)}`.execute(tx);
}
