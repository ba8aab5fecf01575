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
    message: "The configuration file owns this object, so it is read-only here. Change it in the file.",
  });
}

export function noSuch(what: string): GatewayError {
  return new GatewayError("NOT_FOUND", { message: `There is no such ${what}.` });
}

/** A name in a request that leads nowhere. */
export function badReference(param: string, message: string): GatewayError {
  return new GatewayError("INVALID_REQUEST", { message, param, details: { issues: [{ param, message }] } });
}

export function taken(what: string): GatewayError {
  return new GatewayError("CONFLICT", {
    message: `The name is taken by another ${what}. Choose another one.`,
    details: { reason: "exists" },
  });
}
