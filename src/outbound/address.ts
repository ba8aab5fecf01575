// Decides which IP addresses a request to a caller-supplied URL may connect to [remote-audio.public-address]: 2000::/3 and public IPv4, minus special-purpose
// blocks. Blocks that `ipaddr.js` reports as unicast are listed here. Pure.
import ipaddr from "ipaddr.js";

/** `range` is for the operator's log. It is never shown to callers. */
export type AddressVerdict =
  | { readonly isPublic: true }
  | {
      readonly isPublic: false;
      readonly range: string;
      /** Whether an operator may allow this kind of range for receivers of its own: private, shared, unique local or loopback. */
      readonly mayBeOpened: boolean;
    };

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Public according to the registries, but never a third party's server. */
const EXTRA_SPECIAL: readonly (readonly [name: string, range: Range])[] = [
  ["cloud platform", ipaddr.parseCIDR("168.63.129.16/32")],
];

/** Metadata services inside ranges that an operator may allow: they stay blocked (SSRF-458). Link-local ranges can never be allowed. */
const METADATA: readonly Range[] = ["100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::/64", "fd00:c1::/64"].map((cidr) =>
  ipaddr.parseCIDR(cidr),
);

const MAY_BE_OPENED = new Set(["private", "carrierGradeNat", "uniqueLocal", "loopback"]);

export function judgeAddress(text: string): AddressVerdict {
  const address = parseAddress(text);
  if (address === null) return refusal("unreadable");
  const extra = EXTRA_SPECIAL.find(([, range]) => isInside(address, range));
  if (extra !== undefined) return refusal(extra[0]);
  if (METADATA.some((range) => isInside(address, range))) return refusal("metadata");
  const range = address.range();
  if (address instanceof ipaddr.IPv4) {
    return range === "unicast" ? { isPublic: true } : refusal(range, MAY_BE_OPENED.has(range));
  }
  const embedded = embeddedIPv4(address);
  if (embedded !== null)
    return refusal(`${embedded.form} of ${embedded.address.range()} ${embedded.address.toString()}`);
  if (range !== "unicast") return refusal(range, MAY_BE_OPENED.has(range));
  return isInside(address, GLOBAL_UNICAST) ? { isPublic: true } : refusal("outside 2000::/3");
}

/** Ranges of addresses that end in an IPv4 address. */
const EMBEDDING: Readonly<Record<string, string>> = { ipv4Mapped: "mapped", rfc6145: "translated", rfc6052: "nat64" };

/** RFC 6052, 2.1. Network-specific prefixes cannot be known here. */
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

/** The IPv4 address that a NAT64 gateway connects to for this one. Any other address is returned unchanged. */
export function behindNat64(text: string): string {
  const address = parseAddress(text);
  return address !== null && isInside(address, NAT64)
    ? new ipaddr.IPv4(address.toByteArray().slice(12)).toString()
    : text;
}

/** Compares two spellings of an address. A socket may report an IPv4 address in its mapped form. */
export function sameAddress(one: string, other: string): boolean {
  const [left, right] = [parseAddress(one), parseAddress(other)];
  return left !== null && right !== null && unmap(left).toString() === unmap(right).toString();
}

export function isInRange(text: string, cidrs: readonly string[]): boolean {
  const address = parseAddress(text);
  return address !== null && cidrs.some((cidr) => isInside(address, ipaddr.parseCIDR(cidr)));
}

/** Strict: four decimal parts, or IPv6 without a zone. `ipaddr.parse` alone also accepts `0x7f.1`. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  try {
    if (!text.includes(":")) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
    return text.includes("%") ? null : ipaddr.IPv6.parse(text);
  } catch {
    return null;
  }
}

/**
 * The IPv4 address embedded in an IPv6 one. Transition ranges are refused whatever they embed [remote-audio.transition-forms] (SSRF-263, SSRF-279). The
 * embedded address shows the operator where the request would have gone.
 */
function embeddedIPv4(address: ipaddr.IPv6): { readonly form: string; readonly address: ipaddr.IPv4 } | null {
  const bytes = address.toByteArray();
  const ipv4At = (start: number, flip = 0) =>
    new ipaddr.IPv4(bytes.slice(start, start + 4).map((byte) => (byte ^ flip) & 0xff));
  const range = address.range();
  const form = EMBEDDING[range];
  if (form !== undefined) return { form, address: ipv4At(12) };
  if (range === "6to4") return { form: range, address: ipv4At(2) };
  // The client's address is stored inverted (RFC 4380, 4).
  if (range === "teredo") return { form: range, address: ipv4At(12, 0xff) };
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && bytes.slice(12, 15).some((byte) => byte !== 0);
  return isCompatible ? { form: "compatible", address: ipv4At(12) } : null;
}

function unmap(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function isInside(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

function refusal(range: string, mayBeOpened = false): AddressVerdict {
  return { isPublic: false, range, mayBeOpened };
}
