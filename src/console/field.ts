// The fields of a form as data. Those that need no page, and so can be tested without one, are `plain-field.ts`.
import type { Choice } from "./plain-field.ts";

interface FieldOf<K extends string> {
  readonly kind: K;
  /** As the body has it; `quota.concurrent` is a field of an object in it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
}
export type Field =
  | (FieldOf<"text" | "password" | "number" | "time" | "lines" | "json"> & {
      /** Of a time: RFC 3339. */
      readonly value?: string;
      /** Of a text: what it may well be, and need not. */
      readonly suggestions?: readonly string[];
      /** Why it cannot be what was typed; null: it can. */
      readonly fault?: (typed: string) => string | null;
      readonly placeholder?: string;
    })
  | (FieldOf<"select"> & { readonly choices: readonly Choice[]; readonly value?: string })
  | (FieldOf<"checks"> & { readonly choices: readonly Choice[]; readonly value?: readonly string[] })
  | (FieldOf<"check"> & { readonly value?: boolean })
  /**
   * A part of the screen's own. `value` answers as `valueOf` does. What in it is at fault is found by its `data-param`, which a refusal
   * names in `param` and an Error in its `cause`.
   */
  | (FieldOf<"custom"> & { readonly view: HTMLElement; readonly value: () => unknown });
