// Templates of components: tagged strings that create Preact elements.
import htm from "htm";
import { h, type VNode } from "preact";

/** htm describes itself as a module, not as the function that it exports. */
const tag = htm as unknown as { readonly bind: (create: typeof h) => (strings: TemplateStringsArray, ...values: unknown[]) => VNode };

export const html = tag.bind(h);
