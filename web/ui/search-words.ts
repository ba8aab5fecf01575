// The words of the documentation's search: which of them count, how much, and which mean the same.
import { stemmer } from "stemmer";

/** In every text, and no question is about them. They are not in the index. */
const FUNCTION_WORDS = words(`
  a an the this that these those some any each every all both either neither such same other another
  i me my mine we us our ours you your yours he him his she her hers it its they them their theirs one ones
  am is are was were be been being do does did doing done have has had having can cannot could may might must shall should will would
  and or but nor if then than so because while though although whether
  of in on at by for from to into onto with without within about above below over under between through during before after against as like per via up out off
  not no yes only just also too very again ever never always still already yet there here
`);

/**
 * They say that somebody wants something rather than what: interrogatives, verbs that mean little without their object, and words of order, amount and
 * judgement. They count little, because headings and texts have them in another sense.
 */
const WEAK_WORDS = words(`
  who whom whose which what when where why how
  get got give gave given go goes going make makes made let lets keep put take takes took set use uses used using need needs want wants try
  see look find know tell ask say mean means happen happens happened occur come comes came become reach reached work works working help please
  two three four five ten first second third last next new old own many much more most less few several long short good best better safe right possible able way thing something someone
`);

/** Words of the documentation, which has one for each thing, and what strangers call the same. */
const SYNONYMS: Readonly<Record<string, string>> = {
  audit: "history changed",
  budget: "allowance cap limit overspend spending",
  cancel: "abort",
  caption: "subtitle srt vtt",
  charge: "bill pay paid invoice refund",
  compatible: "library sdk",
  container: "docker image kubernetes pod",
  cost: "bill cheap cheapest expensive invoice money price spend",
  credential: "key password token",
  day: "daily",
  diarization: "speaker",
  fallback: "failover outage switch",
  idempotency: "dedupe duplicate twice",
  job: "async asynchronous background batch",
  key: "account colleague invite login member password permission person sso user",
  keyterms: "custom dictionary jargon misspelled spelling vocabulary",
  licence: "license",
  metrics: "grafana monitoring prometheus",
  month: "monthly",
  postgresql: "database postgres sql",
  price: "cheap cheapest cost expensive rate tariff",
  process: "cluster instance node replica",
  quota: "cap limit throttle",
  region: "country europe germany",
  realtime: "live microphone streaming websocket",
  retention: "delete expire keep",
  role: "colleague invite member permission person sso user",
  sandbox: "fake mock simulate",
  seal: "encrypt",
  skip: "exclude forbid prohibit",
  spent: "spend",
  summarise: "summarize",
  tls: "certificate https ssl",
  upgrade: "migrate release update",
  webhook: "callback notify notification",
  workspace: "client company customer department organization team tenant",
};

/** Words that the stemmer would take for another one: a product, an operation, an import, something embedded, something custom. */
const OWN_STEMS = new Map([
  ["production", "production"],
  ["operator", "operator"],
  ["operators", "operator"],
  ["important", "important"],
  ["customer", "customer"],
  ["customers", "customer"],
  ["embedding", "embeddings"],
  ["embeddings", "embeddings"],
]);

export interface QueryTerm {
  readonly term: string;
  /** In lower case. Only the beginning of it may have been typed. */
  readonly word: string;
  readonly isWeak: boolean;
  /** Terms of the documentation for the same. */
  readonly synonyms: readonly string[];
}

/** Null: the word is not in the index. Forms of one word are one term: `rotate`, `rotated`, `rotation`. */
export function indexedTerm(word: string): string | null {
  const lower = word.toLowerCase();
  return FUNCTION_WORDS.has(lower) ? null : (OWN_STEMS.get(lower) ?? stemmer(lower));
}

/** The terms of a query, each once. */
export function queryTerms(query: readonly string[]): readonly QueryTerm[] {
  const terms = new Map<string, QueryTerm>();
  for (const typed of query) {
    const word = typed.toLowerCase();
    const term = indexedTerm(word);
    if (term === null || term === "") continue;
    terms.set(term, { term, word, isWeak: WEAK_WORDS.has(word), synonyms: synonymsOf(term) });
  }
  return [...terms.values()];
}

function synonymsOf(term: string): readonly string[] {
  return Object.entries(SYNONYMS)
    .filter(([, others]) => others.split(" ").some((other) => indexedTerm(other) === term))
    .map(([word]) => stemmer(word));
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/u));
}
