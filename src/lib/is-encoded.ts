// Detects whether an HTTP reply is compressed. No compression is ever requested, so such a reply cannot be read.

/** Object stores send an empty header for objects without an encoding. */
export function isEncoded(headers: Readonly<Record<string, string | undefined>>): boolean {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  return encoding !== "" && encoding !== "identity";
}
