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

interface Named {
  readonly id: string;
  readonly slug: string;
}

export const NO_NAMES: Names = { of: (id) => id, known: [], choices: null };

export async function namesAt(visit: Visit, path: "/apps" | "/workspaces"): Promise<Names> {
  const { data, next_cursor: next } = await visit.read<Page<Named>>(`${path}?limit=100`);
  const slugs = new Map(data.map(({ id, slug }) => [id, slug]));
  const choices = [...slugs].toSorted(([, one], [, other]) => one.localeCompare(other));
  const known = choices.map(([, slug]) => slug);
  return { of: (id) => slugs.get(id) ?? id, known, choices: next === null ? choices : null };
}

/** By name where all names are known, else by id. */
export function namedFilter(name: string, label: string, { choices }: Pick<Names, "choices">): Filter {
  return choices === null
    ? { name, label: `${label} id`, kind: "text" }
    : { name, label, kind: "select", choices: [["", "any"], ...choices] };
}
