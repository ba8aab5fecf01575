/** The driver's error for a database connection that broke mid-query: the outcome of a commit is unknown. */
export function sessionCut(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}
