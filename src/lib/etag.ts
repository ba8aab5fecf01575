// Creates the ETag of an API object: a digest of its fields, so that equal states have equal tags.
import { hash } from "node:crypto";

/** `unstable`: fields that change without an edit (usage, times), or that only some responses contain. */
export function etagOf(view: object, unstable: ReadonlySet<string>): string {
  const stable = Object.entries(view).filter(([name]) => !unstable.has(name));
  return `"${hash("sha256", JSON.stringify(stable), "base64url").slice(0, 22)}"`;
}
