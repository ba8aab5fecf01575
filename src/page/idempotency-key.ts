// Creates an idempotency key for one request of a page, so that a retry after a broken connection does the work once.

/** `page` is the prefix that shows the origin in records. Browsers offer no UUID without https. */
export function newIdempotencyKey(page: "console" | "playground"): string {
  return `${page}-${crypto.getRandomValues(new Uint8Array(16)).join("")}`;
}
