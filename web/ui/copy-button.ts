// A button that copies a text and reports whether it did.
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { html } from "./html.ts";

const REPORT_MS = 2_000;

export function CopyButton({ text }: { readonly text: string }): VNode {
  const label = useSignal("Copy");
  const copy = async (): Promise<void> => {
    label.value = await navigator.clipboard.writeText(text).then(
      () => "Copied",
      () => "Select and copy",
    );
    setTimeout(() => {
      label.value = "Copy";
    }, REPORT_MS);
  };
  return html`<button type="button" class="copy" onClick=${copy} aria-live="polite">${label}</button>`;
}
