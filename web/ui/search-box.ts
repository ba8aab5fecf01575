// Searches the documentation in the browser. The search and its index are loaded when the field gets the focus for the first time.
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { html } from "./html.ts";
import type { SearchSection } from "./search-index.ts";

const MAX_RESULTS = 12;

interface Result {
  readonly href: string;
  readonly heading: string;
  readonly page: string;
  readonly excerpt: string;
}

type Search = (query: string) => readonly Result[];

/** `load` returns every section that can be found. */
export function SearchBox({ load }: { readonly load: () => Promise<readonly SearchSection[]> }): VNode {
  const query = useSignal("");
  const search = useSignal<Search | null>(null);
  const failure = useSignal("");
  const isLoading = useSignal(false);
  const prepare = async (): Promise<void> => {
    if (search.value !== null || isLoading.value) return;
    isLoading.value = true;
    try {
      search.value = await createSearch(load);
      failure.value = "";
    } catch {
      failure.value = "The search index could not be loaded.";
    }
    isLoading.value = false;
  };
  const input = (event: Event): void => {
    if (event.target instanceof HTMLInputElement) query.value = event.target.value;
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Escape") query.value = "";
  };
  return html`<search class="search" onKeyDown=${keys}>
    <input
      type="search"
      id="search-field"
      placeholder="Search"
      aria-label="Search the documentation"
      autocomplete="off"
      value=${query}
      onFocus=${prepare}
      onInput=${input}
    />
    ${query.value.trim() !== "" && html`<div class="results" role="status">${resultsOf(search.value, query.value, failure.value)}</div>`}
  </search>`;
}

async function createSearch(load: () => Promise<readonly SearchSection[]>): Promise<Search> {
  const [{ createSearchIndex, excerptOf, findSections }, sections] = await Promise.all([
    import("./search-index.ts"),
    load(),
  ]);
  const index = createSearchIndex(sections);
  return (query) =>
    findSections(index, query)
      .slice(0, MAX_RESULTS)
      .map((result) => ({
        href: String(result.id),
        heading: String(result["heading"]),
        page: String(result["page"]),
        excerpt: excerptOf(result),
      }));
}

function resultsOf(search: Search | null, query: string, failure: string): unknown {
  if (failure !== "") return html`<p>${failure}</p>`;
  if (search === null) return html`<p>Loading…</p>`;
  const results = search(query);
  if (results.length === 0) return html`<p>Nothing found for “${query}”.</p>`;
  return html`<ul>
    ${results.map(
      ({ href, heading, page, excerpt }) =>
        html`<li><a href=${href}><b>${heading}</b> <span>${page}</span><p>${excerpt}</p></a></li>`,
    )}
  </ul>`;
}
