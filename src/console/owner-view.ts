// Who owns an object: the configuration file, which alone changes it then, or whoever made it here.
import type { ManagedBy } from "../contract/admin.ts";
import { element } from "../page/element.ts";

interface Owned {
  readonly managed_by: ManagedBy;
}

export const isOfFile = ({ managed_by: owner }: Owned): boolean => owner === "file";

export const tag = (text: string): HTMLElement => element("span", { class: "tag" }, text);

export const fileTag = (owned: Owned): readonly Node[] => (isOfFile(owned) ? [tag("from file")] : []);

/** In the place of what could be done. `more`: what can be done all the same. */
export function fileNotice(what: string, more = ""): HTMLElement {
  const words = `The configuration file owns this ${what}, so it is changed there and read here. After a change there, patchbay apply brings it into force.`;
  return element("p", { class: "notice" }, more === "" ? words : `${words} ${more}`);
}
