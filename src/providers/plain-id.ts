// A provider's id of a request, as it can be kept.

/** An id is kept beside the charge: one that a database cannot hold must not cost the answer. */
export function plainId(id: string | null | undefined): string | null {
  return typeof id === "string" && /^[\x21-\x7e]{1,128}$/u.test(id) ? id : null;
}
