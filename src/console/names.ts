// Looks up the names of objects that lists reference by id.
import type { Filter } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import { pagePath } from "./list-view.ts";
import type { Page, Visit } from "./visit.ts";

export interface Names {
  /** The id itself if the name is unknown: the object was removed, or is beyond the loaded pages. */
  of(id: string): string;
  /** Loaded names, in order. */
  readonly known: readonly string[];
  /** Ids with names. Null: the list is incomplete. */
  readonly choices: readonly Choice[] | null;
}

/** A key has a name, other objects have a slug. */
interface Named {
  readonly id: string;
  readonly slug?: string;
  readonly name?: string;
}

export const NO_NAMES: Names = { of: (id) => id, known: [], choices: null };

/** `mostPages`: of a hundred each, newest first. */
export async function namesAt(
  visit: Visit,
  path: "/apps" | "/keys" | "/keys?role=admin" | "/workspaces",
  mostPages = 1,
): Promise<Names> {
  const names = new Map<string, string>();
  let cursor: string | null = null;
  for (let pages = 0; pages < mostPages && (pages === 0 || cursor !== null); pages += 1) {
    const page: Page<Named> = await visit.read<Page<Named>>(pagePath(path, cursor, 100));
    for (const { id, slug, name = id } of page.data) names.set(id, slug ?? name);
    cursor = page.next_cursor;
  }
  const choices = [...names].toSorted(([, one], [, other]) => one.localeCompare(other));
  return {
    of: (id) => names.get(id) ?? id,
    known: choices.map(([, name]) => name),
    choices: cursor === null ? choices : null,
  };
}

/** Names of the workspaces that own these accounts, read only if there is one. */
export async function ownersOf(
  visit: Visit,
  accounts: readonly { readonly workspace_id: string | null }[],
): Promise<Names> {
  const hasOwner = accounts.some(({ workspace_id: owner }) => owner !== null);
  return hasOwner ? namesAt(visit, "/workspaces") : NO_NAMES;
}

/** A select box if all names are known, else a text field for the id. */
export function namedFilter(name: string, label: string, { choices }: Names): Filter {
  return choices === null
    ? { name, label: `${label} id`, kind: "text" }
    : { name, label, kind: "select", choices: [["", "any"], ...choices] };
}
