// Whether the body of a reply is compressed or the like. None is asked for, so one that is cannot be read.

/** A field that is empty, as object stores send it where an upload said nothing in it, encodes nothing. */
export function isEncoded(headers: Readonly<Record<string, string | undefined>>): boolean {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  return encoding !== "" && encoding !== "identity";
}
