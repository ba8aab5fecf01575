// A key for one request of a page, so that asking again after a connection that broke does the work once.

/** `page` begins it, so that records tell where it came from. Without https a browser makes no UUID. */
export function newIdempotencyKey(page: "console" | "playground"): string {
  return `${page}-${crypto.getRandomValues(new Uint8Array(16)).join("")}`;
}
