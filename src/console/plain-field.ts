// Form fields as plain data, so that a test can compare a form with the API's schema without a page.
export interface FieldOf<K extends string> {
  readonly kind: K;
  /** Name in the body; `quota.concurrent` is a field of a nested object. */
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
