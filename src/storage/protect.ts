// Row-level security, forced, with its roles and grants [tenancy.row-level-security]. Brought up to date at every start by the schema's
// owner, after the migrations: roles belong to a server and not to a database, so a restored database has none.
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { ADVISORY_LOCKS } from "./advisory-locks.ts";
import { SHARED_TABLES, TENANT_TABLES, type TenantTable } from "./tenant-tables.ts";

/** Null: the owner may not make roles, and the policies alone tell a bound transaction from any other. */
export type TenantRole = string | null;

interface Roles {
  /** Sees the rows of the workspace it is bound to; never a login's own. */
  readonly tenant: string;
  /** Sees every row; the process's login is a member of it. */
  readonly system: string;
}

interface Policy {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
  readonly mark: string;
}

/** `login`: whom the process connects as, where the owner is somebody else. */
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

/** Named for the owner: two installations on one server share neither roles nor, by them, each other's rows. */
function namesOf(owner: string): Roles {
  // A name has 63 bytes at most.
  const short = Buffer.byteLength(owner) <= 40 ? owner : createHash("sha256").update(owner).digest("hex").slice(0, 40);
  return { tenant: `patchbay_tenant_of_${short}`, system: `patchbay_system_of_${short}` };
}

async function prepareRoles<T>(tx: Kysely<T>, login: string | null): Promise<Roles | null> {
  const { rows } = await sql<{ owner: string; me: string; is_able: boolean; is_owner: boolean }>`
    select pg_get_userbyid(c.relowner) as owner, current_user as me, r.rolsuper or r.rolcreaterole as is_able,
      pg_has_role(c.relowner, 'usage') as is_owner
    from pg_class c, pg_roles r where c.oid = 'public.workspaces'::regclass and r.rolname = current_user`.execute(tx);
  const [facts] = rows;
  if (facts === undefined) throw new Error("the database has no table of workspaces");
  if (!facts.is_owner)
    throw new Error(
      `The tables belong to ${facts.owner}, and ${facts.me} may not change them. Set storage.migrate_url to a login of ${facts.owner}.`,
    );
  const roles = namesOf(facts.owner);
  for (const role of [roles.tenant, roles.system]) {
    const isThere = await sql`select from pg_roles where rolname = ${role}`.execute(tx);
    if (isThere.rows.length > 0) continue;
    if (!facts.is_able) return null;
    await sql`create role ${sql.id(role)} nologin`.execute(tx);
  }
  // The owner too: forced, it would see nothing when it migrates.
  for (const member of new Set([facts.owner, facts.me, login ?? facts.me])) await makeMember(tx, roles, member);
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
  const to = roles === null ? { tenant: "public", system: "public" } : quoted(roles);
  // Without roles whoever is bound to no workspace is the system.
  const everything = roles === null ? "coalesce(current_setting('patchbay.workspace', true), '') = ''" : "true";
  return [
    { name: "tenant", definition: `for all to ${to.tenant} using (${own}) with check (${own})` },
    ...(shared === undefined
      ? []
      : [{ name: "tenant_shared", definition: `for select to ${to.tenant} using (${shared})` }]),
    { name: "system", definition: `for all to ${to.system} using (${everything}) with check (${everything})` },
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
  // What the server shows of a policy is spelled anew by it; the mark tells whether it is this one.
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

/** Nothing is granted again: starting processes would write the catalogue for nothing. */
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
