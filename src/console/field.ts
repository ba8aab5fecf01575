// Form fields as data. Fields that need no page, and can be tested without one, are in `plain-field.ts`.
import type { Choice, FieldOf, SelectField } from "./plain-field.ts";

export type Field =
  | (FieldOf<"text" | "password" | "number" | "time" | "lines" | "json"> & {
      /** RFC 3339 for a time. */
      readonly value?: string;
      /** Suggested values of a text; others are allowed. */
      readonly suggestions?: readonly string[];
      /** The error of an invalid text. Null: valid. */
      readonly fault?: (typed: string) => string | null;
      readonly placeholder?: string;
    })
  | SelectField
  | (FieldOf<"checks"> & { readonly choices: readonly Choice[]; readonly value?: readonly string[] })
  | (FieldOf<"check"> & { readonly value?: boolean })
  /**
   * A control of the screen's own. `value` returns the same as `valueOf`. The invalid part is found by its `data-param`, which a refusal names in `param` and
   * an Error in its `cause`.
   */
  | (FieldOf<"custom"> & { readonly view: HTMLElement; readonly value: () => unknown });
