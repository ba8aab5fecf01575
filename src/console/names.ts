// The names of what lists name by id.
import type { Filter } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import type { Page, Visit } from "./visit.ts";

export interface Names {
  /** The id itself where no name is known: it was removed since, or lies behind the first hundred. */
  of(id: string): string;
  /** In their order; of the first hundred. */
  readonly known: readonly string[];
  /** Ids with their names; null: these are not all. */
  readonly choices: readonly Choice[] | null;
}

/** A key has a name, all others have a slug. */
interface Named {
  readonly id: string;
  readonly slug?: string;
  readonly name?: string;
}

export const NO_NAMES: Names = { of: (id) => id, known: [], choices: null };

export async function namesAt(
  visit: Visit,
  path: "/apps" | "/keys" | "/keys?role=admin" | "/workspaces",
): Promise<Names> {
  const asked = `${path}${path.includes("?") ? "&" : "?"}limit=100`;
  const { data, next_cursor: next } = await visit.read<Page<Named>>(asked);
  const names = new Map(data.map(({ id, slug, name = id }) => [id, slug ?? name]));
  const choices = [...names].toSorted(([, one], [, other]) => one.localeCompare(other));
  return {
    of: (id) => names.get(id) ?? id,
    known: choices.map(([, name]) => name),
    choices: next === null ? choices : null,
  };
}

/** By name where all names are known, else by id. */
export function namedFilter(name: string, label: string, { choices }: Names): Filter {
  return choices === null
    ? { name, label: `${label} id`, kind: "text" }
    : { name, label, kind: "select", choices: [["", "any"], ...choices] };
}
