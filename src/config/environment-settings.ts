// Variables that apply wherever the setting they stand for is not set, with a file or without [configuration.database-variables].
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
  /** Where each value came from, for faults: formatted path prefix → name of the variable. */
  readonly origins: ReadonlyMap<string, string>;
}

/** An empty variable is one that is not set. */
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
 * The file's data with what the environment adds. The two secrets count only for a server database, where they are required: an embedded one
 * has made its own, and a variable of another program must not lock it.
 */
export function withEnvironment(
  file: unknown,
  env: Environment,
): { readonly data: unknown; readonly origins: ReadonlyMap<string, string> } {
  const origins = new Map<string, string>();
  // What is no section is left to the schema, which reports it.
  const isSection = (name: string) => typeof (field(file, name) ?? {}) === "object";
  if (file !== null && typeof file !== "object") return { data: file, origins };
  if (!isSection("storage") || !isSection("secrets")) return { data: file, origins };
  const storage = { ...map(field(file, "storage")) };
  const secrets = { ...map(field(file, "secrets")) };
  const put = (section: Record<string, unknown>, path: readonly [string, string], variable: string, value: unknown) => {
    section[path[1]] = value;
    origins.set(formatPath(path), variable);
  };
  const add = (name: string, variable: string): void => {
    const value = readVariable(env, variable);
    if (value !== null && isUnset(storage[name])) put(storage, ["storage", name], variable, value);
  };
  add("database_url", DATABASE_URL);
  add("migrate_url", MIGRATE_URL);
  if ((text(storage, "database_url") ?? "") !== "") {
    const [pepper, key] = [readVariable(env, KEY_PEPPER), readVariable(env, ENCRYPTION_KEY)];
    if (pepper !== null && isUnset(secrets["key_pepper"])) put(secrets, ["secrets", "key_pepper"], KEY_PEPPER, pepper);
    if (key !== null && isUnset(secrets["encryption_keys"]))
      put(secrets, ["secrets", "encryption_keys"], ENCRYPTION_KEY, [key]);
  }
  return origins.size === 0 ? { data: file, origins } : { data: { ...map(file), storage, secrets }, origins };
}

/** As `${env:NAME:-}` leaves it, and a list of nothing but that. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.every(isUnset));
}
