// Refuses changes through the API of objects that the configuration file manages [admin.managed-by-file].
import type { ManagedBy } from "../contract/admin/admin.ts";
import { GatewayError } from "../contract/errors.ts";

/** Keys that a start created are shown as the API's, because they can be changed like others. */
export function shownManager(managedBy: string): ManagedBy {
  return isOfFile(managedBy) ? "file" : "api";
}

/** The next start overwrites what it derives from the environment, so a change through the API would not last. */
const isOfFile = (managedBy: string): boolean => managedBy === "file" || managedBy === "bootstrap";

export function refuseManagedByFile(row: { readonly managed_by: string }): void {
  if (!isOfFile(row.managed_by)) return;
  throw new GatewayError("MANAGED_BY_FILE", {
    message:
      "This object is managed by the configuration file, or was created at a start without one, so it is read-only here. Change it in the file; `patchbay init` creates one.",
  });
}
