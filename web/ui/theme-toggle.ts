// Switches between light and dark. The choice is kept on this device; without one the system's setting is used.
import { effect, signal } from "@preact/signals";
import type { VNode } from "preact";
import { html } from "./html.ts";

const STORAGE_KEY = "patchbay-theme";
type Theme = "light" | "dark";

const theme = signal<Theme>(storedTheme() ?? systemTheme());

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});

export function ThemeToggle(): VNode {
  const other = theme.value === "dark" ? "light" : "dark";
  const toggle = (): void => {
    theme.value = other;
    localStorage.setItem(STORAGE_KEY, other);
  };
  return html`<button type="button" class="quiet" onClick=${toggle}>${other === "dark" ? "Dark" : "Light"}</button>`;
}

function storedTheme(): Theme | null {
  const stored = localStorage.getItem(STORAGE_KEY);
  return stored === "light" || stored === "dark" ? stored : null;
}

function systemTheme(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
