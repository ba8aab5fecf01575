// The configuration as the program sees it: the parsed file with its paths and addresses resolved.
import type { ParsedConfiguration } from "./schema/file.ts";

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

type Parsed = DeepReadonly<ParsedConfiguration>;

export type Configuration = Omit<Parsed, "server" | "storage"> & {
  readonly server: Omit<Parsed["server"], "publicUrl" | "admin"> & {
    /** Without a trailing slash. */
    readonly publicUrl: string;
    /** Null: none. */
    readonly admin: { readonly host: string; readonly port: number; readonly allowedHosts: readonly string[] } | null;
  };
  readonly storage: Omit<Parsed["storage"], "dataDir" | "migrateUrl"> & {
    /** Absolute. */
    readonly dataDir: string;
    /** The schema owner's URL; the database's own when none is set. */
    readonly migrateUrl: string | null;
  };
  /** Added by a start that finds no workspace in the database; null: the file has workspaces, or there is no file. */
  readonly bootstrap:
    | (Pick<Parsed, "connections" | "routes" | "workspaces"> & { readonly notes: readonly string[] })
    | null;
  /** What an operator without a file should be told at start; empty when a file was read. */
  readonly notes: readonly string[];
};

export type LimitsConfiguration = Configuration["limits"];
export type ConnectionConfiguration = Configuration["connections"][number];
export type RouteConfiguration = Configuration["routes"][number];
export type WorkspaceConfiguration = Configuration["workspaces"][number];
export type AppConfiguration = WorkspaceConfiguration["apps"][number];
export type AdminKeyConfiguration = WorkspaceConfiguration["adminKeys"][number];
