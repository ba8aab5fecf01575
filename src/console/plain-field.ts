// Fields of a form as data alone, so that a test can hold a form against what the API takes, without a page.
export interface FieldOf<K extends string> {
  readonly kind: K;
  /** As the body has it; `quota.concurrent` is a field of an object in it. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
}
export type Choice = readonly [value: string, label: string];
export type SelectField = FieldOf<"select"> & { readonly choices: readonly Choice[]; readonly value?: string };
export type PlainField =
  | (FieldOf<"text" | "password" | "number"> & { readonly value?: string; readonly placeholder?: string })
  | SelectField;
