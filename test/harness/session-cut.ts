/** What the driver says of a connection to the database that broke in the middle: whether a commit under way was made is not known. */
export function sessionCut(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}
