// What a tab keeps until it is closed.

/** null: this browser keeps nothing for pages. */
export function kept(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}
