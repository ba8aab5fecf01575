// The rules of the guard [remote-audio.plain-url], each a pure question about a target: null, or why nothing is sent there.
import ipaddr from "ipaddr.js";
import { judgeAddress, isInRange, sameAddress } from "./address.ts";
import { GuardRefusal } from "./refusal.ts";
import { listedEntry, type TargetPolicy } from "./target-policy.ts";

const MAX_URL_BYTES = 8_192;
const MAX_ANSWERS = 32;

/** A label: letters, digits and inner hyphens, in ASCII. */
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** What parsers agree about: no user, no escapes in the host, no blanks, controls, backslashes or quotes anywhere. */
const TARGET = new RegExp(
  `^(?<scheme>https?)://(?<host>${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]{2,45}\\])(?::(?<port>[0-9]{1,10}))?` +
    // Without a path, an `@` behind the host makes careless parsers take it for a user name (SSRF-078).
    `(?:/[!#-;=?-\\[\\]_a-z{-~]*|[?#][!#-;=?A-\\[\\]_a-z{-~]*)?$`,
  "i",
);

export interface ParsedTarget {
  readonly kind: "name" | "literal";
  readonly url: URL;
  readonly host: string;
  readonly pathAndQuery: string;
}

/** `none`: the text names no scheme, so its form is at fault. */
export function schemeRefusal(rawUrl: string, policy: TargetPolicy): GuardRefusal | "none" | null {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(rawUrl)?.[1]?.toLowerCase();
  if (scheme === undefined) return "none";
  return policy.schemes.some((allowed) => allowed === `${scheme}:`) ? null : new GuardRefusal("scheme", `${scheme}:`);
}

/** The text must be one that no parser repairs; then the parser must have seen the host that stands in it. */
export function parseTarget(rawUrl: string): ParsedTarget | GuardRefusal {
  if (rawUrl.length > MAX_URL_BYTES) return new GuardRefusal("malformed", "too long");
  const match = TARGET.exec(rawUrl);
  const otherSpelling = new GuardRefusal("address_not_public", "an address in another spelling");
  if (isIPv4Spelling(rawUrl)) return otherSpelling;
  if (match === null) return new GuardRefusal("malformed", "not a plain https URL");
  if (!URL.canParse(rawUrl)) return new GuardRefusal("malformed", "not a URL");
  const url = new URL(rawUrl);
  const rawHost = match.groups?.["host"]?.toLowerCase();
  if (url.hostname !== rawHost && url.hostname.startsWith("[")) return otherSpelling;
  if (url.hostname !== rawHost || rawHost.length > 253)
    return new GuardRefusal("malformed", "two readings of the host");
  url.hash = "";
  const query = /^[^?#]*(\?[^#]*)/.exec(rawUrl)?.[1] ?? "";
  const isLiteral = rawHost.startsWith("[") || /\.[0-9]+$/.test(`.${rawHost}`);
  return {
    kind: isLiteral ? "literal" : "name",
    url,
    host: bareHost(url),
    pathAndQuery: `${url.pathname}${query}`,
  };
}

/**
 * An IPv4 address in any spelling that some resolver reads (hexadecimal, octal, one number, fewer parts, full-width digits, a full stop
 * at the end), valid or not, but for four decimal parts. A name's last label is never a number (URL Standard, "ends in a number").
 */
function isIPv4Spelling(rawUrl: string): boolean {
  const raw = /^https?:\/\/([^/?#@:\\[\]\s]+)(?::[0-9]{1,10})?(?:[/?#]|$)/i.exec(rawUrl)?.[1];
  const host = raw?.normalize("NFKC").replaceAll("\u3002", ".").replace(/\.$/, "");
  const isNumeric = /^(?:[0-9]+|0x[0-9a-f]*)$/i.test(host?.split(".").at(-1) ?? "");
  return isNumeric && !(raw === host && ipaddr.IPv4.isValidFourPartDecimal(raw ?? ""));
}

export function portRefusal(url: URL, { ports }: TargetPolicy): GuardRefusal | null {
  const port = portOf(url);
  return port === 0 || (ports !== "any" && !ports.includes(port)) ? new GuardRefusal("port", String(port)) : null;
}

/** Where hosts are listed, a literal is on no list. */
export function nameRefusal({ kind }: ParsedTarget, { hosts }: TargetPolicy): GuardRefusal | null {
  return hosts !== "any" && kind === "literal" ? new GuardRefusal("address_not_public", "literal") : null;
}

export function listRefusal({ host }: ParsedTarget, { hosts }: TargetPolicy): GuardRefusal | null {
  return hosts !== "any" && listedEntry(host, hosts) === null ? new GuardRefusal("host_not_allowed", host) : null;
}

export function selfRefusal({ host, url }: ParsedTarget, ownEndpoints: readonly string[]): GuardRefusal | null {
  return ownEndpoints.includes(`${host}:${portOf(url)}`)
    ? new GuardRefusal("address_not_public", "the gateway itself")
    : null;
}

interface Reaching {
  /** This machine's. */
  readonly own: readonly string[];
  /** Who answers at an address, where a NAT64 gateway stands between. */
  readonly reachedBy: (address: string) => string;
}

/** One bad answer refuses the name: it must not depend on which of them is dialled. */
export function addressesRefusal(
  url: URL,
  addresses: readonly string[],
  { own, reachedBy }: Reaching,
  policy: TargetPolicy,
): GuardRefusal | null {
  if (addresses.length === 0 || addresses.length > MAX_ANSWERS)
    return new GuardRefusal("address_not_public", `${addresses.length} addresses`);
  for (const address of addresses) {
    const refusal = addressRefusal(address, reachedBy(address), own, policy);
    if (refusal !== null) return refusal;
  }
  const isPublic = addresses.some((each) => judgeAddress(reachedBy(each)).isPublic);
  return policy.httpStaysPrivate === true && url.protocol === "http:" && isPublic
    ? new GuardRefusal("scheme", "plain http to a public address")
    : null;
}

/** Behind a NAT64 gateway no private range is opened. */
function addressRefusal(
  address: string,
  reached: string,
  own: readonly string[],
  policy: TargetPolicy,
): GuardRefusal | null {
  const verdict = judgeAddress(reached);
  const isOpened =
    !verdict.isPublic && verdict.mayBeOpened && reached === address && isInRange(address, policy.privateCidrs);
  if (!verdict.isPublic && !isOpened) return new GuardRefusal("address_not_public", `${verdict.range} ${address}`);
  return verdict.isPublic && own.some((mine) => sameAddress(mine, reached))
    ? new GuardRefusal("address_not_public", `the gateway's own address ${address}`)
    : null;
}

export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
