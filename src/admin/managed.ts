// Objects of the configuration file are read-only through the API [admin.managed-by-file].
import type { ManagedBy } from "../contract/admin.ts";
import { GatewayError } from "../contract/errors.ts";

/** Keys that a start created may be changed like those that people made. */
export function shownManager(managedBy: string): ManagedBy {
  return isOfFile(managedBy) ? "file" : "api";
}

/** What a start derives from the environment is written again by the next one: a change through the API would not last. */
const isOfFile = (managedBy: string): boolean => managedBy === "file" || managedBy === "bootstrap";

export function refuseManagedByFile(row: { readonly managed_by: string }): void {
  if (!isOfFile(row.managed_by)) return;
  throw new GatewayError("MANAGED_BY_FILE", {
    message:
      "The configuration file owns this object, or a start without one does, so it is read-only here. Change it in the file; `patchbay init` writes one.",
  });
}
