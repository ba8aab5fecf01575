// Storage of one tab, until it is closed.

/** Null: this browser stores nothing for pages. */
export function kept(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
