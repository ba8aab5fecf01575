// Applies environment variables for settings that are not set, with a file or without [configuration.database-variables].
import { formatPath } from "./fault.ts";
import { field, map, text } from "./raw-data.ts";
import type { ConfigurationFile } from "./schema/file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export const DATABASE_URL = "DATABASE_URL";
const MIGRATE_URL = "PATCHBAY_MIGRATE_URL";
const KEY_PEPPER = "PATCHBAY_KEY_PEPPER";
const ENCRYPTION_KEY = "PATCHBAY_ENCRYPTION_KEY";

export interface EnvironmentSettings {
  readonly data: Pick<ConfigurationFile, "storage" | "secrets">;
  /** Source of each value, for faults: formatted path prefix → name of the variable. */
  readonly origins: ReadonlyMap<string, string>;
}

/** An empty variable counts as not set. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === "" ? null : value;
}

export function environmentSettings(env: Environment): EnvironmentSettings {
  return {
    data: {
      storage: { database_url: readVariable(env, DATABASE_URL), migrate_url: readVariable(env, MIGRATE_URL) },
      secrets: {
        key_pepper: readVariable(env, KEY_PEPPER),
        encryption_keys: [readVariable(env, ENCRYPTION_KEY) ?? ""],
      },
    },
    origins: new Map([
      ["storage.database_url", DATABASE_URL],
      ["storage.migrate_url", MIGRATE_URL],
      ["secrets.key_pepper", KEY_PEPPER],
      ["secrets.encryption_keys", ENCRYPTION_KEY],
    ]),
  };
}

/**
 * Returns the file's data with the variables added. The two secrets apply only to a server database, which requires them: an embedded database has created
 * its own, and a variable of another program must not lock it.
 */
export function withEnvironment(
  file: unknown,
  env: Environment,
): { readonly data: unknown; readonly origins: ReadonlyMap<string, string> } {
  const origins = new Map<string, string>();
  // The schema reports a value that is not a section.
  const isSection = (name: string) => typeof (field(file, name) ?? {}) === "object";
  if (file !== null && typeof file !== "object") return { data: file, origins };
  if (!isSection("storage") || !isSection("secrets")) return { data: file, origins };
  const storage = { ...map(field(file, "storage")) };
  const secrets = { ...map(field(file, "secrets")) };
  const setValue = (
    section: Record<string, unknown>,
    path: readonly [string, string],
    variable: string,
    value: unknown,
  ) => {
    section[path[1]] = value;
    origins.set(formatPath(path), variable);
  };
  const addIfUnset = (name: string, variable: string): void => {
    const value = readVariable(env, variable);
    if (value !== null && isUnset(storage[name])) setValue(storage, ["storage", name], variable, value);
  };
  addIfUnset("database_url", DATABASE_URL);
  addIfUnset("migrate_url", MIGRATE_URL);
  if ((text(storage, "database_url") ?? "") !== "") {
    const [pepper, key] = [readVariable(env, KEY_PEPPER), readVariable(env, ENCRYPTION_KEY)];
    if (pepper !== null && isUnset(secrets["key_pepper"]))
      setValue(secrets, ["secrets", "key_pepper"], KEY_PEPPER, pepper);
    if (key !== null && isUnset(secrets["encryption_keys"]))
      setValue(secrets, ["secrets", "encryption_keys"], ENCRYPTION_KEY, [key]);
  }
  return origins.size === 0 ? { data: file, origins } : { data: { ...map(file), storage, secrets }, origins };
}

/** True also for what `${env:NAME:-}` leaves, and for a list of nothing else. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.every(isUnset));
}
