// Validates a host name, or a wildcard of one label (`*.example.com`), for the allowlist of `audio.url`.
import { domainToUnicode } from "node:url";
import { parse } from "tldts";

/** Reserved names (RFC 6761, 6762, 7686, 8375, 9476): no public server has one. */
const INSIDE = new Set(
  "alt arpa corp home internal intranet invalid lan local localdomain localhost onion private".split(" "),
);
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** The last label begins with a letter, because URL parsers treat a name that ends in a number as an address. */
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);

/** The fault as the end of a sentence, or null. Expects lower case. */
export function hostNameFault(entry: string): string | null {
  const name = entry.startsWith("*.") ? entry.slice(2) : entry;
  if (entry.length > 253 || !NAME.test(name))
    return "must be a host name in lower-case ASCII, exact or with one leading `*.`, without port, path, address or final dot";
  if (name.split(".").some((label) => label.startsWith("xn--") && encodesNothing(label)))
    return "has an `xn--` label that encodes nothing";
  if (INSIDE.has(name.slice(name.lastIndexOf(".") + 1))) return "ends in a name reserved for private networks";
  if (!isOfOneSite(name)) return "is a public suffix; list the complete host name";
  return null;
}

/** Not a public suffix itself, because its names belong to different owners. */
export function isOfOneSite(name: string): boolean {
  return parse(name, { allowPrivateDomains: true }).domain !== null;
}

/** Lower-cases ASCII letters only, because host names are case-insensitive in ASCII alone. */
export function spelledAsHostName(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** A Punycode label that no name encodes to: Node.js returns it unchanged, and before about 24.16 an empty string. */
function encodesNothing(label: string): boolean {
  return ["", label].includes(domainToUnicode(label));
}
