// The names of what lists name by id.
import type { Filter } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import { tried } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";

export interface Names {
  /** The id itself where no name is known: it was removed since, or lies behind the first hundred. */
  of(id: string): string;
  /** Ids with their names: the first hundred. */
  readonly known: readonly Choice[];
  /** The same; null: these are not all. */
  readonly choices: readonly Choice[] | null;
}

/** A key has a name, all others have a slug. */
interface Named {
  readonly id: string;
  readonly slug?: string;
  readonly name?: string;
}

export const NO_NAMES: Names = { of: (id) => id, known: [], choices: null };

/** Where they cannot be read, ids stand for themselves. */
export async function namesAt(visit: Visit, path: "/apps" | "/keys" | "/workspaces"): Promise<Names> {
  const outcome = await tried<Page<Named>>(visit, `${path}?limit=100`);
  if (!outcome.ok) return NO_NAMES;
  const { data, next_cursor: next } = outcome.data;
  const names = new Map(data.map(({ id, slug, name = id }) => [id, slug ?? name]));
  const known = [...names].toSorted(([, one], [, other]) => one.localeCompare(other));
  return { of: (id) => names.get(id) ?? id, known, choices: next === null ? known : null };
}

/** By name where all names are known, else by id. */
export function namedFilter(name: string, label: string, { choices }: Names): Filter {
  return choices === null
    ? { name, label: `${label} id`, kind: "text" }
    : { name, label, kind: "select", choices: [["", "any"], ...choices] };
}
