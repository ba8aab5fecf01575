// What is known of a model's life, as data: when it was last checked and where, and when its provider ends it.

export interface ModelLife {
  /** Date of the newest evidence that the facts of the model were compared with. */
  readonly verifiedOn: string;
  /** A page of the provider, or a package with its version. */
  readonly source: string;
  readonly deprecatedOn?: string;
  /** The first day on which the provider refuses the model. */
  readonly endsOn?: ModelEnd;
  /** The provider answers the name by another model instead of refusing it. */
  readonly redirect?: ModelRedirect;
  /** Models that the provider names as successors, the closest first. */
  readonly replacedBy?: readonly ModelSuccessor[];
}

export interface ModelEnd {
  readonly date: string;
  /** `vendor`: the provider's own page or API. `second_hand`: another source, which is enough for a warning but makes no target ineligible. */
  readonly evidence: "vendor" | "second_hand";
  /** If it differs from that of the model. */
  readonly source?: string;
}

/** From `date` on, requests for the name are answered, and billed, as `model`. */
export interface ModelRedirect extends ModelEnd {
  readonly model: string;
}

export interface ModelSuccessor {
  readonly model: string;
  /** Features of the model that the successor lacks. */
  readonly lacks: readonly string[];
}

/** Of a model that is known and not offered, because no adapter speaks its protocol [providers.not-offered]. */
export interface NotOffered {
  /** The day on which it was decided. */
  readonly since: string;
  /** What is missing, as a clause. */
  readonly reason: string;
}
