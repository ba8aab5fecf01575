// Fills the places for search and theme in the header of a page.
import { render } from "preact";
import { html } from "./html.ts";
import { SearchBox } from "./search-box.ts";
import type { SearchSection } from "./search-index.ts";
import { ThemeToggle } from "./theme-toggle.ts";

export function mountHeader(): void {
  mount("search", html`<${SearchBox} load=${loadSections} />`);
  mount("theme", html`<${ThemeToggle} />`);
  addEventListener("keydown", focusSearch);
}

function mount(id: string, content: ReturnType<typeof html>): void {
  const place = document.getElementById(id);
  if (place !== null) render(content, place);
}

async function loadSections(): Promise<readonly SearchSection[]> {
  const response = await fetch("/docs/search.json");
  if (!response.ok) throw new Error(`The search index returned ${response.status}.`);
  return (await response.json()) as readonly SearchSection[];
}

function focusSearch(event: KeyboardEvent): void {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
  if (event.key !== "/" || isTyping) return;
  event.preventDefault();
  document.getElementById("search-field")?.focus();
}
