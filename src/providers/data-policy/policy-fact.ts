// What is proven about the handling of data by one model on one account, as data [data-policy.facts]. What is not proven is no fact.

/** `vendor`: the provider's own page or package. `statement`: the owner of the account states it. `gateway`: the data does not leave this process. */
export type PolicyBasis = "vendor" | "statement" | "gateway";

/** `possible` is listed for readers only: it satisfies no requirement. */
export type TrainingFact = "never" | "opt_out_sent" | "possible";
/** `deletable`: kept, and the gateway deletes it after the call. A number: days. */
export type RetentionFact = "none" | "deletable" | number;
/** `any`: the data leaves no region. */
export type RegionsFact = "any" | readonly string[];

export type PolicyFact = {
  readonly basis: PolicyBasis;
  readonly source: string;
  /** Null: a page without a date, whose source says when it was read, or a statement. */
  readonly verifiedOn: string | null;
  /** Settings with which the fact holds. A request that relies on the fact is sent with them, whatever the target's settings say. */
  readonly forces?: Readonly<Record<string, unknown>>;
  /** The fact holds only if each of these settings has one of the values. Null: not set. */
  readonly onlyWith?: Readonly<Record<string, readonly (string | null)[]>>;
} & (
  | { readonly aspect: "training"; readonly value: TrainingFact }
  | { readonly aspect: "retention"; readonly value: RetentionFact }
  | { readonly aspect: "regions"; readonly value: RegionsFact }
);

/** What a model is used for: facts can differ. */
export type PolicyUse = "files" | "live" | "chat";
