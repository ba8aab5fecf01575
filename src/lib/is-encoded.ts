// Detects a content encoding of a response. None is requested, so an encoded body cannot be read.

/** Object stores send an empty header for objects without an encoding. */
export function isEncoded(headers: Readonly<Record<string, string | undefined>>): boolean {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  return encoding !== "" && encoding !== "identity";
}
