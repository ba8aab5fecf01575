// The search of the documentation: an index of its sections, and the sections that answer a query or a question.
import MiniSearch, { type SearchOptions, type SearchResult } from "minisearch";
import { indexedTerm, type QueryTerm, queryTerms } from "./search-words.ts";

export interface SearchSection {
  /** Path with fragment. */
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly content: string;
}

export type SearchIndex = MiniSearch<SearchSection>;

/** Pages that say why something was built are rarely an answer. Lists of links, terms, fields and models come after the pages that they belong to. */
const WEIGHTS = [
  [/^\/docs\/(?:decisions|api\/[\w-]+#(?:responses|parameters|body))/u, 0.2],
  [/^\/docs(?:\/glossary|\/faults)?#|#(?:next|where-it-is-implemented|life-of-all-models)$/u, 0.5],
  [/^\/docs\/guides\//u, 1.5],
] as const;
/** A status code asks for the error that has it: these sections, before those that mention the number. */
const STATUS_CODE = /^[45]\d\d$/u;
const ERROR_SECTION = /^\/docs\/(?:errors|guides\/troubleshooting)#/u;
const ERROR_WEIGHT = 5;

/** How much a section counts that has the word, compared with one that has it as it was typed. */
const SYNONYM = 0.5;
/** The same of a word that so few sections have that they are about it. */
const SYNONYM_OF_RARE = 0.2;
const RARE = 5;
const BEGINNING = 0.2;
const MISSPELLED = 0.3;
/** How much a word counts that says little, compared with others. */
const WEAK = 0.3;
/** A word of fewer letters is the beginning of too many, or similar to too many. */
const MIN_BEGINNING = 3;
const MIN_MISSPELLED = 5;

const EXCERPT_LENGTH = 160;
const WORD = /[\p{L}\p{N}]+/gu;
const tokenize = MiniSearch.getDefault("tokenize");

export function createSearchIndex(sections: readonly SearchSection[]): SearchIndex {
  const index = new MiniSearch<SearchSection>({
    fields: ["heading", "page", "content"],
    storeFields: ["page", "heading", "content"],
    processTerm: indexedTerm,
    searchOptions: {
      // One term at a time, as `queryTerms` returns it.
      tokenize: (term) => [term],
      processTerm: (term) => term,
      boost: { heading: 3, page: 2 },
      boostDocument: weightOf,
    },
  });
  index.addAll(sections);
  return index;
}

interface Match {
  readonly result: SearchResult;
  /** 1: the word as it was typed. */
  readonly share: number;
}

interface Candidate {
  readonly result: SearchResult;
  readonly terms: readonly string[];
  readonly score: number;
  /** The weight of the words that the section has. */
  readonly covered: number;
  readonly hasStrongWord: boolean;
}

/**
 * Best first. The score of a section is the sum over the words of the query, times the share of the words that the section has: a section with most of the words
 * comes before one with a single word in its heading. In this share, words of few sections weigh more.
 */
export function findSections(index: SearchIndex, query: string): readonly SearchResult[] {
  const terms = queryTerms(tokenize(query));
  const isWeakQuery = terms.every(({ isWeak }) => isWeak);
  const candidates = new Map<string, Candidate>();
  let total = 0;
  terms.forEach((term, position) => {
    const matches = findTerm(index, term, position === terms.length - 1);
    const strength = term.isWeak && !isWeakQuery ? WEAK : 1;
    const weight = strength * Math.log(1 + index.documentCount / (1 + matches.size));
    total += weight;
    for (const [id, { result, share }] of matches) {
      const known = candidates.get(id) ?? { result, terms: [], score: 0, covered: 0, hasStrongWord: isWeakQuery };
      candidates.set(id, {
        result: known.result,
        terms: [...known.terms, ...result.terms],
        score: known.score + result.score * share * strength,
        covered: known.covered + weight * share,
        hasStrongWord: known.hasStrongWord || !term.isWeak,
      });
    }
  });
  return [...candidates.values()]
    .filter(({ hasStrongWord }) => hasStrongWord)
    .map(({ result, terms: found, score, covered }) => ({ ...result, terms: [...found], score: (score * covered) / total }))
    .toSorted((left, right) => right.score - left.score);
}

/** The text around the first word that was found. */
export function excerptOf({ terms, content }: SearchResult): string {
  const text = String(content);
  const first = text.matchAll(WORD).find(([word]) => terms.includes(indexedTerm(word) ?? ""));
  if (first === undefined) return text.slice(0, EXCERPT_LENGTH);
  const start = Math.max(0, first.index - EXCERPT_LENGTH / 4);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + EXCERPT_LENGTH)}`;
}

/** The sections with a word, a synonym, or, where nothing has it, a similar word. The last word may be typed in part. */
function findTerm(
  index: SearchIndex,
  { term, word, synonyms }: QueryTerm,
  isLast: boolean,
): ReadonlyMap<string, Match> {
  const matches = new Map<string, Match>();
  const add = (searched: string, share: number, options: SearchOptions = {}): void => {
    for (const result of index.search(searched, options)) {
      const best = matches.get(result.id);
      if (best === undefined || best.result.score * best.share < result.score * share)
        matches.set(result.id, { result, share });
    }
  };
  add(term, 1);
  const isKnown = matches.size > 0;
  const isRare = isKnown && matches.size <= RARE;
  for (const synonym of synonyms) add(synonym, isRare ? SYNONYM_OF_RARE : SYNONYM);
  if (word.length >= MIN_BEGINNING && (isLast || !isKnown)) add(word, BEGINNING, { prefix: true });
  if (word.length >= MIN_MISSPELLED && matches.size === 0) add(term, MISSPELLED, { fuzzy: 0.2 });
  return matches;
}

function weightOf(id: unknown, term: string): number {
  const weight = WEIGHTS.find(([pattern]) => pattern.test(String(id)))?.[1] ?? 1;
  return STATUS_CODE.test(term) && ERROR_SECTION.test(String(id)) ? weight * ERROR_WEIGHT : weight;
}
