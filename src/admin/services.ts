// Types that all functions of `admin/` receive: their dependencies (`AdminServices`), the key that acts, for the audit log (`AdminActor`), and the pages of
// lists.
import type { KeyId } from "../contract/ids.ts";
import type { Database } from "../storage/database.ts";

export interface AdminServices {
  readonly database: Database;
}

/** The acting key, as stored in the audit log. */
export interface AdminActor {
  readonly actor: KeyId;
}

/** A page of a list. `after`: the cursor at the end of the previous page. */
export interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}

export interface Page<View> {
  readonly data: readonly View[];
  /** Cursor of the next page. Null: this is the last page. */
  readonly end: string | null;
}
