// Validates a target's settings by the schema of its provider, so that a mistyped setting is a fault and not ignored.
import { z } from "zod";
import { type Capability, PROFILES } from "../contract/features.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import { settingsSchema } from "./known-models.ts";
import { type Entry, field, map } from "./raw-data.ts";
import { type SchemaFault, schemaFaults } from "./schema-faults.ts";

/** `dialect` is the declared model's own, which the target's settings extend. */
export function checkSettings(
  target: Entry,
  kind: ProviderKind,
  capabilities: readonly Capability[],
  dialect: string | undefined,
): readonly SchemaFault[] {
  const schema = settingsSchema(kind, capabilities);
  if (schema === undefined) return [];
  const path = [...target.path, "settings"];
  const settingEntries = Object.entries(map(field(target.value, "settings")));
  const isProfile = (name: string) => PROFILES.some((profile) => profile === name);
  const takesDialect = schema instanceof z.ZodObject && Object.hasOwn(schema.shape, "dialect");
  const base = dialect === undefined || !takesDialect ? {} : { dialect };
  const common = Object.fromEntries(settingEntries.filter(([name]) => !isProfile(name)));
  const profiles = settingEntries
    .filter(([name]) => isProfile(name))
    .map(([name, own]) => ({ path: [...path, name], own: map(own) }));
  return [{ path, own: common }, ...profiles].flatMap(({ path: place, own }) => {
    const parsed = schema.safeParse({ ...base, ...own });
    if (parsed.success) return [];
    return schemaFaults(schema, { ...base, ...own }, parsed.error.issues, () => false).map((fault) => ({
      ...fault,
      path: [...place, ...fault.path],
    }));
  });
}
