// The numbers of the locks that transactions of ours take on a whole database, in one place, so that no two are the same. Processes of
// several versions run beside each other: a number once given stays.
export const ADVISORY_LOCKS = {
  /** A change of set-up, of plans, workspaces or grants. */
  directory: 7_015,
  /** Roles and policies, at every start. */
  protect: 7_270_702,
  /** What the queue's tables are granted, at every start. */
  queueGrants: 7_270_703,
  /** Held by running processes, with an encryption key's id behind it: each they know, and the one they seal with. */
  knownKey: 7_270_704,
  firstKey: 7_270_705,
} as const;
