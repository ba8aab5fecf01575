// Validates a provider's request id before it is stored.

/** An id is stored next to the charge: one that a database cannot store must not fail the answer. */
export function plainId(id: string | null | undefined): string | null {
  return typeof id === "string" && /^[\x21-\x7e]{1,128}$/u.test(id) ? id : null;
}
