// Objects of the configuration file are read-only through the API (contract 10).
import type { ManagedBy } from "../contract/admin.ts";
import { GatewayError } from "../contract/errors.ts";

/** What the gateway made itself at its first start may be changed like what people made. */
export function shownManager(managedBy: string): ManagedBy {
  return managedBy === "file" ? "file" : "api";
}

export function refuseManagedByFile(row: { readonly managed_by: string }): void {
  if (row.managed_by !== "file") return;
  throw new GatewayError("MANAGED_BY_FILE", {
    message:
      "The configuration file owns this object, or a start without one does, so it is read-only here. Change it in the file; `patchbay init` writes one.",
  });
}
