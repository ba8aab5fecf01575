// The search of the documentation: an index of its sections, and the sections that answer a query or a question.
import MiniSearch, { type SearchResult } from "minisearch";

export interface SearchSection {
  /** Path with fragment. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly content: string;
}

export type SearchIndex = MiniSearch<SearchSection>;

/** Words of questions that are in every text. Without them, what a question asks about decides. */
const STOP_WORDS = new Set(
  `a about am an and any are as at be been being but by can cannot could did do does doing for from get gets got had has have having he her
  his how i if in into is it its just like make makes me my no not of on one or our over own shall she should so some than that the their them then there
  these they this those to too up us use used uses using was we were what when where which who whose why will with work working would you your`.split(/\s+/u),
);
/** Pages that say why something was built are rarely an answer. Lists of links, terms and fields come after the pages that they belong to. */
const WEIGHTS = [
  [/^\/docs\/(?:decisions|api\/[\w-]+#(?:responses|parameters|body))/u, 0.2],
  [/^\/docs(?:\/glossary|\/faults)?#|#(?:next|where-it-is-implemented)$/u, 0.5],
  [/^\/docs\/guides\//u, 1.5],
] as const;

export function createSearchIndex(sections: readonly SearchSection[]): SearchIndex {
  const index = new MiniSearch<SearchSection>({
    fields: ["heading", "page", "content"],
    storeFields: ["page", "heading", "content"],
    processTerm: searchTerm,
    searchOptions: {
      boost: { heading: 3, page: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      boostDocument: weightOf,
    },
  });
  index.addAll(sections);
  return index;
}

/** Best first. A section with more of the words comes before one with fewer. */
export function findSections(index: SearchIndex, query: string): readonly SearchResult[] {
  return index.search(query);
}

/** Null: the word is not searched. Plurals are found by their singular, and the other way round. */
function searchTerm(term: string): string | null {
  const word = term.toLowerCase();
  if (STOP_WORDS.has(word)) return null;
  if (word.length < 5 || word.endsWith("ss") || word.endsWith("us")) return word;
  return word.replace(/ies$/u, "y").replace(/s$/u, "");
}

function weightOf(id: unknown): number {
  return WEIGHTS.find(([pattern]) => pattern.test(String(id)))?.[1] ?? 1;
}
