// The two roles that separate workspaces in the database in addition to its policies [tenancy.row-level-security], and whether they can be there.
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";

export interface Roles {
  /** Sees the rows of the workspace that the transaction is bound to. Never a login's own role. */
  readonly tenant: string;
  /** Sees every row. The process's login is a member of it. */
  readonly system: string;
}

/** Named after the owner, so that two installations on one server do not share roles, and thereby each other's rows. */
export function rolesOf(owner: string): Roles {
  // PostgreSQL truncates names to 63 bytes.
  const suffix = Buffer.byteLength(owner) <= 40 ? owner : createHash("sha256").update(owner).digest("hex").slice(0, 40);
  return { tenant: `patchbay_tenant_of_${suffix}`, system: `patchbay_system_of_${suffix}` };
}

export interface RoleState {
  /** Of the schema. Before the first migration: the login. */
  readonly owner: string;
  readonly login: string;
  readonly roles: Roles;
  /** Of `roles`. */
  readonly missing: readonly string[];
  /** Whether a start with the owner's rights creates what is missing. */
  readonly canCreate: boolean;
}

/** Null: the server does not list the owner. */
export async function readRoleState<T>(db: Kysely<T>): Promise<RoleState | null> {
  const { rows } = await sql<{ owner: string; login: string; can_create: boolean }>`
    select coalesce((select pg_get_userbyid(relowner) from pg_class where oid = to_regclass('public.workspaces')), current_user)
      as owner, current_user as login, r.rolsuper or r.rolcreaterole as can_create
    from pg_roles r where r.rolname = coalesce(
      (select pg_get_userbyid(relowner) from pg_class where oid = to_regclass('public.workspaces')), current_user)`.execute(
    db,
  );
  const [found] = rows;
  if (found === undefined) return null;
  const roles = rolesOf(found.owner);
  const present = await sql<{ rolname: string }>`
    select rolname from pg_roles where rolname in (${roles.tenant}, ${roles.system})`.execute(db);
  const names = new Set(present.rows.map(({ rolname }) => rolname));
  return {
    owner: found.owner,
    login: found.login,
    roles,
    missing: [roles.tenant, roles.system].filter((role) => !names.has(role)),
    canCreate: found.can_create,
  };
}
