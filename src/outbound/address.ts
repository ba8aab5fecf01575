// Which addresses a request to a caller's address may be sent to [remote-audio.public-address]: 2000::/3 and public IPv4, minus the special
// blocks. Pure. `ipaddr.js` knows most of them; those that its version takes for plain unicast are listed here.
import ipaddr from "ipaddr.js";

/** `range` is for the operator's log: callers are told nothing of it. */
export type AddressVerdict =
  | { readonly isPublic: true }
  | {
      readonly isPublic: false;
      readonly range: string;
      /** Of the kind that an operator may open to receivers of its own: private, shared, unique local or loopback. */
      readonly mayBeOpened: boolean;
    };

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Public by the registries, and yet never a stranger's server. */
const EXTRA_SPECIAL: readonly (readonly [name: string, range: Range])[] = [
  ["cloud platform", ipaddr.parseCIDR("168.63.129.16/32")],
];

/** Metadata services in ranges that may be opened: these stay closed (SSRF-458). Link-local ones are never opened. */
const METADATA: readonly Range[] = ["100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/64", "fd00:c1::/64"].map((cidr) =>
  ipaddr.parseCIDR(cidr),
);

const MAY_BE_OPENED = new Set(["private", "carrierGradeNat", "uniqueLocal", "loopback"]);

export function judgeAddress(text: string): AddressVerdict {
  const address = parseAddress(text);
  if (address === null) return refused("unreadable");
  const extra = EXTRA_SPECIAL.find(([, range]) => within(address, range));
  if (extra !== undefined) return refused(extra[0]);
  if (METADATA.some((range) => within(address, range))) return refused("metadata");
  const range = address.range();
  if (address instanceof ipaddr.IPv4) {
    return range === "unicast" ? { isPublic: true } : refused(range, MAY_BE_OPENED.has(range));
  }
  const embedded = embeddedIPv4(address);
  if (embedded !== null)
    return refused(`${embedded.form} of ${embedded.address.range()} ${embedded.address.toString()}`);
  if (range !== "unicast") return refused(range, MAY_BE_OPENED.has(range));
  return within(address, GLOBAL_UNICAST) ? { isPublic: true } : refused("outside 2000::/3");
}

/** Ranges that end in an IPv4 address. */
const EMBEDDING: Readonly<Record<string, string>> = { ipv4Mapped: "mapped", rfc6145: "translated", rfc6052: "nat64" };

/** RFC 6052, 2.1. Local prefixes are nobody's to know. */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

/** The IPv4 address that a NAT64 gateway connects to for this one; any other address as it is. */
export function behindNat64(text: string): string {
  const address = parseAddress(text);
  return address !== null && within(address, NAT64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12)).toString()
    : text;
}

/** Two spellings of one address; an IPv4 one may come back from a socket in its mapped form. */
export function sameAddress(one: string, other: string): boolean {
  const [left, right] = [parseAddress(one), parseAddress(other)];
  return left !== null && right !== null && unmapped(left).toString() === unmapped(right).toString();
}

export function isInRange(text: string, cidrs: readonly string[]): boolean {
  const address = parseAddress(text);
  return address !== null && cidrs.some((cidr) => within(address, ipaddr.parseCIDR(cidr)));
}

/** Strictly: four decimal parts, or IPv6 without a zone. `ipaddr.parse` alone also takes `0x7f.1`. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  try {
    if (!text.includes(":")) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
    return text.includes("%") ? null : ipaddr.IPv6.parse(text);
  } catch {
    return null;
  }
}

/**
 * The IPv4 address inside an IPv6 one. Transition space is refused whole, whatever is inside [remote-audio.transition-forms] (SSRF-263,
 * SSRF-279); the address inside shows the operator where it would have gone.
 */
function embeddedIPv4(address: ipaddr.IPv6): { readonly form: string; readonly address: ipaddr.IPv4 } | null {
  const bytes = address.toByteArray();
  const at = (start: number, flip = 0) =>
    new ipaddr.IPv4(bytes.slice(start, start + 4).map((byte) => (byte ^ flip) & 0xff));
  const range = address.range();
  const form = EMBEDDING[range];
  if (form !== undefined) return { form, address: at(12) };
  if (range === "6to4") return { form: range, address: at(2) };
  // The client's address is stored inverted (RFC 4380, 4).
  if (range === "teredo") return { form: range, address: at(12, 0xff) };
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte !== 0);
  return isCompatible ? { form: "compatible", address: at(12) } : null;
}

function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

function refused(range: string, mayBeOpened = false): AddressVerdict {
  return { isPublic: false, range, mayBeOpened };
}
