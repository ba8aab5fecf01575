// Reads the apps and returns the retirement radar of one workspace, or of all for the operator [retirement.scope]. API, doctor, alerts and metric all use it.
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Database } from "../../storage/database.ts";
import { asWorkspaceOrSystem } from "../../storage/system.ts";
import { listRetirements, type ListServices, type Retirement } from "./list-retirements.ts";
import { readRouteUsers } from "./route-users.ts";

export interface RetirementReading extends ListServices {
  readonly database: Database;
}

/** For a workspace: its own routes, and shared ones that its apps use. */
export async function readRetirements(
  services: RetirementReading,
  workspace: WorkspaceId | null,
): Promise<readonly Retirement[]> {
  const users = await asWorkspaceOrSystem(services.database, workspace, (db) => readRouteUsers(db, workspace));
  const all = await listRetirements(services, users);
  return workspace === null ? all : all.filter((each) => each.workspace !== null || each.apps.length > 0);
}
