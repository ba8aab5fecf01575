// The SSRF rules for a URL that a caller supplied: scheme, one readable spelling [remote-audio.plain-url], port, allowlist, public addresses. Pure: each returns
// null or the refusal. `guard.ts` applies them in order.
import ipaddr from "ipaddr.js";
import { judgeAddress, isInRange, sameAddress } from "./address.ts";
import { GuardRefusal } from "./refusal.ts";
import { listedEntry, type TargetPolicy } from "./url-policy.ts";

const MAX_URL_BYTES = 8_192;
const MAX_ANSWERS = 32;

/** A DNS label: ASCII letters, digits and inner hyphens. */
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** The URL syntax on which parsers agree: no user info, no escapes in the host, no blanks, controls, backslashes or quotes anywhere. */
const TARGET = new RegExp(
  `^(?<scheme>https?)://(?<host>${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]{2,45}\\])(?::(?<port>[0-9]{1,10}))?` +
    // Without a path, an `@` after the host makes careless parsers read the host as a user name (SSRF-078).
    `(?:/[!#-;=?-\\[\\]_a-z{-~]*|[?#][!#-;=?A-\\[\\]_a-z{-~]*)?$`,
  "i",
);

export interface ParsedTarget {
  readonly kind: "name" | "literal";
  readonly url: URL;
  readonly host: string;
  readonly pathAndQuery: string;
}

/** `none`: the text has no scheme, so the syntax rule refuses it. */
export function schemeRefusal(rawUrl: string, policy: TargetPolicy): GuardRefusal | "none" | null {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(rawUrl)?.[1]?.toLowerCase();
  if (scheme === undefined) return "none";
  return policy.schemes.some((allowed) => allowed === `${scheme}:`) ? null : new GuardRefusal("scheme", `${scheme}:`);
}

/** The text must be one that no parser repairs, and the parser must have found the host that is in the text. */
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
 * An IPv4 address in any spelling that some resolver accepts (hexadecimal, octal, one number, fewer parts, full-width digits, a trailing full stop), valid or
 * not, except four decimal parts. A name's last label is never a number (URL Standard, "ends in a number").
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

/** An IP literal is on no allowlist. */
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
  /** This machine's addresses. */
  readonly own: readonly string[];
  /** The address that answers, behind a NAT64 gateway if there is one. */
  readonly reachedBy: (address: string) => string;
}

/** One refused address refuses the name, so that the result does not depend on which address is dialled. */
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

/** Behind a NAT64 gateway no private range can be allowed. */
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
