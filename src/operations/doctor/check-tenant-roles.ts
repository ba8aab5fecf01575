// `patchbay doctor`: whether the database can have the two roles that separate workspaces [cli.doctor-roles].
import { readRoleState } from "../../storage/schema/tenant-roles.ts";
import type { Handle } from "../../storage/system.ts";
import { type Finding, warn } from "./finding.ts";

/** No finding where the roles exist, or the next start creates them. */
export async function checkTenantRoles(db: Handle): Promise<readonly Finding[]> {
  const state = await readRoleState(db);
  if (state === null || state.missing.length === 0 || state.canCreate) return [];
  const { owner, login, roles, missing } = state;
  const created = missing.map((role) => `create role ${role} nologin`);
  const members = [...new Set([owner, login])].join(", ");
  return [
    warn(
      "storage",
      `${owner} may not create roles (CREATEROLE), so workspaces are separated by the policies of the tables alone`,
      `for both barriers, run as an administrator of the server, then restart the gateway: ${[...created, `grant ${roles.tenant}, ${roles.system} to ${members}`].join("; ")}`,
    ),
  ];
}
