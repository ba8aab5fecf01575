// The filters of a form as data: those that share a question by its address.
import type { Choice } from "./plain-field.ts";

export type Filter =
  | {
      readonly name: string;
      readonly label: string;
      readonly kind: "text";
      readonly placeholder?: string;
      /** What it may well be, and need not. */
      readonly suggestions?: readonly string[];
    }
  /** Ticked: `yes` in the address. */
  | { readonly name: string; readonly label: string; readonly kind: "date" | "check" }
  | { readonly name: string; readonly label: string; readonly kind: "select"; readonly choices: readonly Choice[] };
