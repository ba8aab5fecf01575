// Filters of a form as data: those that are shared by the address.
import type { Choice } from "./plain-field.ts";

export type Filter =
  | {
      readonly name: string;
      readonly label: string;
      readonly kind: "text";
      readonly placeholder?: string;
      /** Suggested values; others are allowed. */
      readonly suggestions?: readonly string[];
    }
  /** If checked: `yes` in the address. */
  | { readonly name: string; readonly label: string; readonly kind: "date" | "check" }
  | { readonly name: string; readonly label: string; readonly kind: "select"; readonly choices: readonly Choice[] };
