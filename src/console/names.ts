// The names of what lists name by id.
import type { Filter } from "./filter-view.ts";
import type { Choice } from "./form-view.ts";
import { pagePath } from "./list-view.ts";
import type { Page, Visit } from "./visit.ts";

export interface Names {
  /** The id itself where no name is known: it was removed since, or lies behind those that are read. */
  of(id: string): string;
  /** In their order; of those that are read. */
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

/** `mostPages`: of a hundred each, the newest first. */
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

/** By name where all names are known, else by id. */
export function namedFilter(name: string, label: string, { choices }: Names): Filter {
  return choices === null
    ? { name, label: `${label} id`, kind: "text" }
    : { name, label, kind: "select", choices: [["", "any"], ...choices] };
}
