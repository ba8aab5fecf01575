// Lists the numbers of the advisory locks that transactions take on a whole database, so that no two are equal. Processes of different versions
// run at the same time, so a number never changes.
export const ADVISORY_LOCKS = {
  /** Changes of the directory, of plans, workspaces or credit grants. */
  directory: 7_015,
  /** Updates of roles and policies, at every start. */
  protect: 7_270_702,
  /** Grants on the queue's tables, at every start. */
  queueGrants: 7_270_703,
  /** Held by running processes together with an encryption key's id: one lock per known key, and one for the key they seal with. */
  knownKey: 7_270_704,
  firstKey: 7_270_705,
} as const;
