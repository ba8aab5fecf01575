// Validates a connection beyond its schema: whether its kind accepts its fields.
import { isKind, needsAddress, needsCredential, type ProviderKind } from "../contract/provider-kinds.ts";
import { regionsOf } from "../providers/data-policy/regional-hosts.ts";
import { credentialFault } from "./known-models.ts";
import { type Entry, text } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";

export function checkConnection(connection: Entry): readonly SchemaFault[] {
  const kind = text(connection.value, "kind");
  const faults: SchemaFault[] = [];
  if (kind === undefined || !isKind(kind)) return faults;
  const hasText = (name: string) => (text(connection.value, name) ?? "") !== "";
  if (needsCredential(kind) && !hasText("api_key"))
    faults.push({ path: [...connection.path, "api_key"], message: `is required for kind '${kind}'` });
  if (kind === "local")
    for (const name of ["api_key", "base_url"].filter(hasText))
      faults.push({
        path: [...connection.path, name],
        message: "must not be set: models of kind 'local' are on this machine",
      });
  const fault = credentialFault(kind, text(connection.value, "api_key") ?? "");
  if (fault !== null) faults.push({ path: [...connection.path, "api_key"], message: fault });
  if (needsAddress(kind) && !hasText("base_url"))
    faults.push({ path: [...connection.path, "base_url"], message: `is required for kind '${kind}'` });
  return [...faults, ...checkRegion(connection, kind)];
}

/** A region stands for an address, so there is no second one [data-policy.regional-hosts]. */
function checkRegion({ path, value }: Entry, kind: ProviderKind): readonly SchemaFault[] {
  const region = text(value, "region") ?? "";
  if (region === "") return [];
  const known = regionsOf(kind);
  const message = known.includes(region)
    ? (text(value, "base_url") ?? "") === ""
      ? null
      : "cannot be combined with `base_url`; remove one of them"
    : known.length === 0
      ? `kind '${kind}' has no regional addresses; set \`base_url\` and state the region in \`data_policy\``
      : `kind '${kind}' has these regions: ${known.join(", ")}`;
  return message === null ? [] : [{ path: [...path, "region"], message }];
}
