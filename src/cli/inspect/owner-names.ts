// Looks up the names behind the ids of workspaces, apps and keys, for tables and records. A name that cannot be read is its id.
import { z } from "zod";
import { asRecord, asString } from "../../lib/json/json-guards.ts";
import { readPages } from "../print-list.ts";
import type { Session } from "../gateway-session.ts";
import { CliError } from "../terminal.ts";

/** Reads names with the rights of the command: as an administrator of one workspace, or as the operator. */
export interface NameSource {
  readonly session: Session;
  /** True: on the admin listener. */
  readonly isOperator: boolean;
}

export type Names = ReadonlyMap<string, string>;

/** Of more workspaces, ids are printed: each needs a request. */
const MOST_WORKSPACES = 20;
const MOST_APPS = 1_000;

/** Slugs of all apps of the workspaces, by id. */
export async function appNames(source: NameSource, workspaces: readonly string[]): Promise<Names> {
  if (workspaces.length > MOST_WORKSPACES) return new Map();
  const lists = await Promise.all(workspaces.map((workspace) => slugsAt(source, `${pathOf(source, workspace)}/apps`)));
  return new Map(lists.flatMap((list) => [...list]));
}

/** For the operator: slugs of workspaces, by id. */
export function workspaceNames(source: NameSource): Promise<Names> {
  return source.isOperator ? slugsAt(source, "/admin/v1/workspaces") : Promise.resolve(new Map<string, string>());
}

/** Name of one key. */
export function keyName(source: NameSource, workspace: string, key: string): Promise<string | null> {
  const path = `${pathOf(source, workspace)}/keys/${encodeURIComponent(key)}`;
  return readable(async () => asString(asRecord(await source.session.document(path))["name"]), null);
}

function pathOf({ isOperator }: NameSource, workspace: string): string {
  return `${isOperator ? "/admin/v1/workspaces" : "/workspace"}/${encodeURIComponent(workspace)}`;
}

const item = z.object({ id: z.string(), slug: z.string() });

function slugsAt({ session }: NameSource, path: string): Promise<Names> {
  return readable(async () => {
    const names = new Map<string, string>();
    for await (const { data } of readPages(session, { path, item, what: "list" }, MOST_APPS))
      for (const { id, slug } of data) names.set(id, slug);
    return names;
  }, new Map());
}

/** A table without names is better than none. */
async function readable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  return read().catch((error: unknown) => {
    if (error instanceof CliError) return otherwise;
    throw error;
  });
}
