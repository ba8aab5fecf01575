// Keys given in the file: the checksum of those with our prefix, that it names the role they are given, and that no two keys are the same
// [configuration.key-secrets].
import { checkFormat, KEY_PREFIXES } from "../auth/key-format.ts";
import { weaknessOfChosen } from "../lib/weak-secret.ts";
import { formatPath } from "./fault.ts";
import { entries, type Entry, text } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";

export function checkKeySecrets(data: unknown): readonly SchemaFault[] {
  const first = new Map<string, string>();
  return allKeys(data).flatMap((key) => {
    const secret = text(key.value, "secret");
    // Shorter ones are the schema's to refuse; an unset variable leaves an empty one.
    if (secret === undefined || secret.length < 24) return [];
    const path = [...key.path, "secret"];
    const taken = first.get(secret);
    if (taken !== undefined) return [{ path, message: `is the same as ${taken}; every key needs its own` }];
    first.set(secret, formatPath(path));
    const fault = secret.startsWith("svc_") ? faultOfOurs(secret, key.prefixes) : faultOfChosen(secret);
    return fault === null ? [] : [{ path, message: fault }];
  });
}

/** Scanners, logs and people go by the prefix: it must not say another role than the key has. */
function faultOfOurs(secret: string, prefixes: readonly string[]): string | null {
  const format = checkFormat(secret);
  if (!format.ok) return format.reason;
  return prefixes.some((prefix) => secret.startsWith(prefix))
    ? null
    : `is of another role: keys here begin with ${prefixes.join(" or ")}`;
}

function faultOfChosen(secret: string): string | null {
  const weakness = weaknessOfChosen(secret);
  return weakness === null ? null : `${weakness}; make one with \`openssl rand -base64 32\``;
}

interface GivenKey extends Entry {
  /** Of the kinds that may stand in its place. */
  readonly prefixes: readonly string[];
}

function allKeys(data: unknown): readonly GivenKey[] {
  const { live, test, admin, root } = KEY_PREFIXES;
  const of = (keys: readonly Entry[], ...prefixes: readonly string[]) => keys.map((key) => ({ ...key, prefixes }));
  const workspaces = entries(data, ["workspaces"]);
  return [
    ...of(entries(data, ["operator_keys"]), root),
    ...workspaces.flatMap((workspace) => [
      ...entries(workspace.value, ["apps"], workspace.path).flatMap((app) =>
        of(entries(app.value, ["keys"], app.path), live, test),
      ),
      ...of(entries(workspace.value, ["admin_keys"], workspace.path), admin),
    ]),
  ];
}
