// What the verbs of this room need from the outside, and who asks.
import type { KeyId } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";

export interface AdminServices {
  readonly database: Database;
}

/** The key that acts, as the audit log keeps it. */
export interface Acting {
  readonly actor: KeyId;
}

/** A page of a list: `after` is the position where the page before ended. */
export interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}

export interface Page<View> {
  readonly data: readonly View[];
  /** Where this page ends; null: it is the last. */
  readonly end: string | null;
}
