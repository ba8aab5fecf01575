// Judges a host name, or a wildcard of one label, for an allowlist: the public name of one site (contract 6).
import { domainToUnicode } from "node:url";
import { parse } from "tldts";

/** Reserved for use inside networks, or for nobody (RFC 6761, 6762, 7686, 8375, 9476): no public server has such a name. */
const INSIDE = new Set(
  "alt arpa corp home internal intranet invalid lan local localdomain localhost onion private".split(" "),
);
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** The last label begins with a letter: a name that ends in a number is an address to URL parsers. */
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);

/** What is wrong with it, as the end of a sentence; null when nothing is. Expects lower case. */
export function hostNameFault(entry: string): string | null {
  const name = entry.startsWith("*.") ? entry.slice(2) : entry;
  if (entry.length > 253 || !NAME.test(name))
    return "must be a host name in lower-case ASCII, exact or with one leading `*.`, without port, path, address or final dot";
  if (name.split(".").some((label) => label.startsWith("xn--") && encodesNothing(label)))
    return "has an `xn--` label that encodes nothing";
  if (INSIDE.has(name.slice(name.lastIndexOf(".") + 1))) return "ends in a name reserved for private networks";
  if (!isOfOneSite(name)) return "is a suffix under which anybody can have a name; list the whole host name";
  return null;
}

/** Not a suffix itself: whoever has a name there is not whoever has another. */
export function isOfOneSite(name: string): boolean {
  return parse(name, { allowPrivateDomains: true }).domain !== null;
}

/** Host names know no case, of ASCII: a letter of another script is another letter, whatever it looks like in lower case. */
export function spelledAsHostName(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** No name is encoded as it: Node leaves it as it is, and before 24.16 or so answers nothing. */
function encodesNothing(label: string): boolean {
  return ["", label].includes(domainToUnicode(label));
}
