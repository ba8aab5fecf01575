// Searches the documentation in the browser. The index is created when the field gets the focus for the first time.
import { useSignal } from "@preact/signals";
import type { SearchResult } from "minisearch";
import type { VNode } from "preact";
import { html } from "./html.ts";
import { createSearchIndex, findSections, type SearchIndex, type SearchSection } from "./search-index.ts";

const MAX_RESULTS = 12;
const EXCERPT_LENGTH = 160;

/** `load` returns every section that can be found. */
export function SearchBox({ load }: { readonly load: () => Promise<readonly SearchSection[]> }): VNode {
  const query = useSignal("");
  const index = useSignal<SearchIndex | null>(null);
  const failure = useSignal("");
  const isLoading = useSignal(false);
  const prepare = async (): Promise<void> => {
    if (index.value !== null || isLoading.value) return;
    isLoading.value = true;
    try {
      index.value = createSearchIndex(await load());
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
    ${query.value.trim() !== "" && html`<div class="results" role="status">${resultsOf(index.value, query.value, failure.value)}</div>`}
  </search>`;
}

function resultsOf(index: SearchIndex | null, query: string, failure: string): unknown {
  if (failure !== "") return html`<p>${failure}</p>`;
  if (index === null) return html`<p>Loading…</p>`;
  const results = findSections(index, query).slice(0, MAX_RESULTS);
  if (results.length === 0) return html`<p>Nothing found for “${query}”.</p>`;
  return html`<ul>
    ${results.map(
      (result) =>
        html`<li><a href=${result.id}><b>${result["heading"]}</b> <span>${result["page"]}</span><p>${excerpt(result)}</p></a></li>`,
    )}
  </ul>`;
}

/** The text around the first term that was found. */
function excerpt(result: SearchResult): string {
  const content = String(result["content"]);
  const lower = content.toLowerCase();
  const positions = result.terms.map((term) => lower.indexOf(term)).filter((position) => position >= 0);
  const start = Math.max(0, Math.min(...positions, content.length) - EXCERPT_LENGTH / 4);
  if (positions.length === 0) return content.slice(0, EXCERPT_LENGTH);
  return `${start > 0 ? "…" : ""}${content.slice(start, start + EXCERPT_LENGTH)}`;
}
