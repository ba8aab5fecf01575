// Keys given in the file: the checksum of those with our prefix, and that no two keys are the same (contract 2, 10).
import { checkFormat } from "../auth/key-format.ts";
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
    const format = secret.startsWith("svc_") ? checkFormat(secret) : { ok: true as const };
    if (!format.ok) return [{ path, message: format.reason }];
    const weakness = secret.startsWith("svc_") ? null : weaknessOfChosen(secret);
    return weakness === null ? [] : [{ path, message: `${weakness}; make one with \`openssl rand -base64 32\`` }];
  });
}

function allKeys(data: unknown): readonly Entry[] {
  const workspaces = entries(data, ["workspaces"]);
  return [
    ...entries(data, ["operator_keys"]),
    ...workspaces.flatMap((workspace) => [
      ...entries(workspace.value, ["apps"], workspace.path).flatMap((app) => entries(app.value, ["keys"], app.path)),
      ...entries(workspace.value, ["admin_keys"], workspace.path),
    ]),
  ];
}
