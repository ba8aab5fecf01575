// Validates keys in the file: the checksum of keys with Patchbay's prefix, that the prefix fits the role, and that no two keys are the same
// [configuration.key-secrets].
import { checkFormat, KEY_PREFIXES } from "../auth/key-format.ts";
import { weaknessOfChosen } from "../lib/weak-secret.ts";
import { formatPath } from "./fault.ts";
import { entries, type Entry, text } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";

export function checkKeySecrets(data: unknown): readonly SchemaFault[] {
  const firstPaths = new Map<string, string>();
  return allKeys(data).flatMap((key) => {
    const secret = text(key.value, "secret");
    // The schema refuses shorter ones. An unset variable leaves an empty one.
    if (secret === undefined || secret.length < 24) return [];
    const path = [...key.path, "secret"];
    const firstPath = firstPaths.get(secret);
    if (firstPath !== undefined) return [{ path, message: `is the same as ${firstPath}; every key needs its own` }];
    firstPaths.set(secret, formatPath(path));
    const fault = secret.startsWith("svc_") ? prefixedKeyFault(secret, key.prefixes) : chosenKeyFault(secret);
    return fault === null ? [] : [{ path, message: fault }];
  });
}

/** Scanners, logs and people rely on the prefix, so it must match the key's role. */
function prefixedKeyFault(secret: string, prefixes: readonly string[]): string | null {
  const format = checkFormat(secret);
  if (!format.ok) return format.reason;
  return prefixes.some((prefix) => secret.startsWith(prefix))
    ? null
    : `is of another role: keys here begin with ${prefixes.join(" or ")}`;
}

function chosenKeyFault(secret: string): string | null {
  const weakness = weaknessOfChosen(secret);
  return weakness === null ? null : `${weakness}; make one with \`openssl rand -base64 32\``;
}

interface KeyEntry extends Entry {
  /** The prefixes that are allowed at this place of the file. */
  readonly prefixes: readonly string[];
}

function allKeys(data: unknown): readonly KeyEntry[] {
  const { live, test, admin, root } = KEY_PREFIXES;
  const withPrefixes = (keys: readonly Entry[], ...prefixes: readonly string[]) =>
    keys.map((key) => ({ ...key, prefixes }));
  const workspaces = entries(data, ["workspaces"]);
  return [
    ...withPrefixes(entries(data, ["operator_keys"]), root),
    ...workspaces.flatMap((workspace) => [
      ...entries(workspace.value, ["apps"], workspace.path).flatMap((app) =>
        withPrefixes(entries(app.value, ["keys"], app.path), live, test),
      ),
      ...withPrefixes(entries(workspace.value, ["admin_keys"], workspace.path), admin),
    ]),
  ];
}
