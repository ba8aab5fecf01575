// The fields of a form as data. Those that need no page, and so can be tested without one, are `plain-field.ts`.
import type { Choice, FieldOf, SelectField } from "./plain-field.ts";

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
  | SelectField
  | (FieldOf<"checks"> & { readonly choices: readonly Choice[]; readonly value?: readonly string[] })
  | (FieldOf<"check"> & { readonly value?: boolean })
  /**
   * A part of the screen's own. `value` answers as `valueOf` does. What in it is at fault is found by its `data-param`, which a refusal
   * names in `param` and an Error in its `cause`.
   */
  | (FieldOf<"custom"> & { readonly view: HTMLElement; readonly value: () => unknown });
