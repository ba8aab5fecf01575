// Shows one of several code blocks that do the same in different languages.
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { CopyButton } from "./copy-button.ts";
import { html } from "./html.ts";

export interface CodeTab {
  readonly label: string;
  readonly code: string;
}

export function CodeTabs({ tabs }: { readonly tabs: readonly CodeTab[] }): VNode {
  const selected = useSignal(0);
  const { code = "" } = tabs[selected.value] ?? {};
  const select = (index: number) => (): void => {
    selected.value = index;
  };
  return html`<div class="code-tabs">
    <div role="group" aria-label="Language">
      ${tabs.map(
        ({ label }, index) =>
          html`<button type="button" aria-pressed=${index === selected.value} onClick=${select(index)}>${label}</button>`,
      )}
    </div>
    <div class="code"><pre tabindex="0"><code>${code}</code></pre><${CopyButton} text=${code} /></div>
  </div>`;
}
