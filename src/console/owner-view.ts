// Shows the owner of an object: the configuration file, which alone can change it, or the key that created it here.
import type { ManagedBy } from "../contract/admin/admin.ts";
import { element } from "../page/element.ts";

interface Owned {
  readonly managed_by: ManagedBy;
}

export const isOfFile = ({ managed_by: owner }: Owned): boolean => owner === "file";

export const tag = (text: string): HTMLElement => element("span", { class: "tag" }, text);

export const fileTag = (owned: Owned): readonly Node[] => (isOfFile(owned) ? [tag("from file")] : []);

/** Replaces the actions. `more`: actions that remain possible. */
export function fileNotice(what: string, more = ""): HTMLElement {
  const words = `Managed by the configuration file: this ${what} is read-only here. Edit the file, then run patchbay apply.`;
  return element("p", { class: "notice" }, more === "" ? words : `${words} ${more}`);
}
