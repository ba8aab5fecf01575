// The types of the configuration as the program uses it: the parsed file with resolved paths and addresses.
import type { ParsedConfiguration } from "./schema/file.ts";

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

type Parsed = DeepReadonly<ParsedConfiguration>;

export type Configuration = Omit<Parsed, "server" | "storage" | "models"> & {
  readonly server: Omit<Parsed["server"], "publicUrl" | "admin"> & {
    /** Without a trailing slash. */
    readonly publicUrl: string;
    /** Null: no admin listener. */
    readonly admin: { readonly host: string; readonly port: number; readonly allowedHosts: readonly string[] } | null;
  };
  readonly storage: Omit<Parsed["storage"], "dataDir" | "migrateUrl"> & {
    /** Absolute path. */
    readonly dataDir: string;
    /** The database URL of the schema's owner. Without its own setting, the same as `databaseUrl`. */
    readonly migrateUrl: string | null;
  };
  readonly models: Omit<Parsed["models"], "dir"> & {
    /** Absolute path. */
    readonly dir: string;
  };
  /** Added by a start that finds no workspace in the database. Null: the file has workspaces, or there is no file. */
  readonly bootstrap:
    | (Pick<Parsed, "connections" | "routes" | "workspaces"> & { readonly notes: readonly string[] })
    | null;
  /** Messages for an operator who starts without a file. Empty if a file was read. */
  readonly notes: readonly string[];
};

export type LimitsConfiguration = Configuration["limits"];
export type ConnectionConfiguration = Configuration["connections"][number];
export type RouteConfiguration = Configuration["routes"][number];
export type WorkspaceConfiguration = Configuration["workspaces"][number];
export type AppConfiguration = WorkspaceConfiguration["apps"][number];
export type AdminKeyConfiguration = WorkspaceConfiguration["adminKeys"][number];
