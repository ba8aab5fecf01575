// The entity tag of an object as an API shows it: a digest of what is shown, so that equal states have equal tags.
import { hash } from "node:crypto";

/** `unstable`: fields that move without anybody changing the object, or that one answer alone shows. */
export function etagOf(view: object, unstable: ReadonlySet<string>): string {
  const stable = Object.entries(view).filter(([name]) => !unstable.has(name));
  return `"${hash("sha256", JSON.stringify(stable), "base64url").slice(0, 22)}"`;
}
