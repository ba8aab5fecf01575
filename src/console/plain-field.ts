// Fields of a form as data alone, so that a test can hold a form against what the API takes, without a page.
interface Common {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly value?: string;
}
export type Choice = readonly [value: string, label: string];
export type PlainField =
  | (Common & { readonly kind: "text" | "password" | "number"; readonly placeholder?: string })
  | (Common & { readonly kind: "select"; readonly choices: readonly Choice[] });
