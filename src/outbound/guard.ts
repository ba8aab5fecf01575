// The guard of every request to an address that somebody else supplied (spec 4.4; contract 6; reliability 4). One order for
// all of them: raw text → parsed and compared → port → allowlist → one resolution → every address public → dial that
// address with the name's certificate → compare whom the socket reached. No setting leaves one out.
import type { Socket } from "node:net";
import { behindNat64, isInRange, judgeAddress, sameAddress } from "./address.ts";
import { ConnectFailure, GuardRefusal } from "./refusal.ts";
import { isListed, type TargetPolicy } from "./target-policy.ts";

/** Every address of a name, IPv4 and IPv6, of one moment. Absolute names only: no search list. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ConnectTarget {
  readonly address: string;
  readonly port: number;
  /** Speak TLS and demand this name's certificate (an address's own for a literal); null: plain. */
  readonly tlsName: string | null;
}

/** Opens a socket to exactly this address, TLS included; throws `ConnectFailure`. */
export type Connect = (
  target: ConnectTarget,
  signal: AbortSignal,
) => Promise<{ readonly socket: Socket; readonly remoteAddress: string | undefined }>;

export interface GuardOptions {
  readonly resolve: Resolve;
  readonly connect: Connect;
  /** Where the gateway itself answers, as `host:port`, and this machine's addresses: it must not be made to call itself. */
  readonly own?: () => { readonly endpoints: readonly string[]; readonly addresses: readonly string[] };
  /** This machine reaches IPv4 by NAT64: such an address is judged by the one inside. Else it is refused, whatever is inside. */
  readonly nat64?: boolean;
  readonly dnsTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

/** A target that passed every rule that can be judged before a socket is open. */
export interface VettedTarget {
  readonly url: URL;
  /** Path and query: the query byte for byte as given, because it may be signed. */
  readonly pathAndQuery: string;
  readonly addresses: readonly string[];
}

export interface Guard {
  vet(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<VettedTarget>;
  /** Vets, then dials what was vetted. */
  dial(
    rawUrl: string,
    policy: TargetPolicy,
    signal?: AbortSignal,
  ): Promise<{ readonly target: VettedTarget; readonly socket: Socket }>;
  /** How often a target was judged, since the start. */
  judged(): number;
}

const DNS_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_ANSWERS = 32;
const MAX_URL_BYTES = 8_192;

export function createGuard(options: GuardOptions): Guard {
  const { resolve, connect, own } = options;
  const dnsTimeoutMs = options.dnsTimeoutMs ?? DNS_TIMEOUT_MS;
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const reachedBy = options.nat64 === true ? behindNat64 : (address: string): string => address;
  let judged = 0;

  async function vet(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<VettedTarget> {
    judged++;
    const parsed = parseTarget(rawUrl, policy);
    const { url, host } = parsed;
    refusePort(url, policy);
    const self = own?.() ?? { endpoints: [], addresses: [] };
    if (policy.hosts !== "any" && parsed.kind === "literal") throw new GuardRefusal("address_not_public", "literal");
    if (policy.hosts !== "any" && !isListed(host, policy.hosts)) throw new GuardRefusal("host_not_allowed", host);
    if (self.endpoints.includes(`${host}:${portOf(url)}`))
      throw new GuardRefusal("address_not_public", "the gateway itself");
    const addresses = parsed.kind === "literal" ? [host] : await lookUp(host, signal);
    if (addresses.length === 0 || addresses.length > MAX_ANSWERS)
      throw new GuardRefusal("address_not_public", `${addresses.length} addresses`);
    // One bad answer refuses the name: it must not depend on which of them is dialled.
    for (const address of addresses) refuseAddress(address, reachedBy(address), self.addresses, policy);
    if (
      policy.httpStaysPrivate === true &&
      url.protocol === "http:" &&
      addresses.some((each) => judgeAddress(reachedBy(each)).isPublic)
    )
      throw new GuardRefusal("scheme", "plain http to a public address");
    return { url, pathAndQuery: parsed.pathAndQuery, addresses };
  }

  async function lookUp(host: string, signal?: AbortSignal): Promise<readonly string[]> {
    try {
      return await withDeadline(dnsTimeoutMs, signal, (stop) => resolve(host, stop));
    } catch (error) {
      signal?.throwIfAborted();
      // Not found, no answer and not public are one and the same to a caller (case SSRF-413).
      const why = error instanceof Error ? error.message : "";
      throw new GuardRefusal("address_not_public", `not resolved: ${why}`, true);
    }
  }

  return {
    vet,
    judged: () => judged,
    async dial(rawUrl, policy, signal) {
      const target = await vet(rawUrl, policy, signal);
      return { target, socket: await dialVetted(connect, target, connectTimeoutMs, signal) };
    },
  };
}

/** Each vetted address in turn until one answers. One that hangs may use half of the time that is left, the last one all. */
async function dialVetted(
  connect: Connect,
  { url, addresses }: VettedTarget,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  const tlsName = url.protocol === "https:" ? bareHost(url) : null;
  const endsAtMs = performance.now() + timeoutMs;
  let failure = new ConnectFailure("connect");
  for (const [index, address] of addresses.entries()) {
    const leftMs = endsAtMs - performance.now();
    const isLast = index === addresses.length - 1;
    try {
      return await withDeadline(isLast ? leftMs : leftMs / 2, signal, async (stop) => {
        const { socket, remoteAddress } = await connect({ address, port: portOf(url), tlsName }, stop);
        if (!stop.aborted && remoteAddress !== undefined && sameAddress(remoteAddress, address)) return socket;
        socket.destroy();
        throw new GuardRefusal("address_not_public", "the socket reached another address");
      });
    } catch (error) {
      if (error instanceof ConnectFailure) failure = error;
      else if (error instanceof Deadline) failure = new ConnectFailure("timeout");
      else throw error;
    }
  }
  throw failure;
}

/** A label: letters, digits and inner hyphens, in ASCII. */
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
/** What parsers agree about: no user, no escapes in the host, no blanks, controls, backslashes or quotes anywhere. */
const TARGET = new RegExp(
  `^(?<scheme>https?)://(?<host>${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]{2,45}\\])(?::(?<port>[0-9]{1,10}))?` +
    // Without a path, an `@` behind the host makes careless parsers take it for a user name (case SSRF-078).
    `(?:/[!#-;=?-\\[\\]_a-z{-~]*|[?#][!#-;=?A-\\[\\]_a-z{-~]*)?$`,
  "i",
);

type ParsedTarget = {
  readonly kind: "name" | "literal";
  readonly url: URL;
  readonly host: string;
  readonly pathAndQuery: string;
};

/** The text must be one that no parser repairs; then the parser must have seen the host that stands in it. */
function parseTarget(rawUrl: string, policy: TargetPolicy): ParsedTarget {
  if (rawUrl.length > MAX_URL_BYTES) throw new GuardRefusal("malformed", "too long");
  const match = TARGET.exec(rawUrl);
  if (match === null) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(rawUrl)?.[1]?.toLowerCase();
    throw scheme !== undefined && !policy.schemes.some((allowed) => allowed === `${scheme}:`)
      ? new GuardRefusal("scheme", scheme)
      : new GuardRefusal("malformed", "not a plain https URL");
  }
  if (!URL.canParse(rawUrl)) throw new GuardRefusal("malformed", "not a URL");
  const url = new URL(rawUrl);
  if (!policy.schemes.some((allowed) => allowed === url.protocol)) throw new GuardRefusal("scheme", url.protocol);
  const rawHost = match.groups?.["host"]?.toLowerCase();
  if (url.hostname !== rawHost || rawHost.length > 253) throw new GuardRefusal("malformed", "two readings of the host");
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

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function refusePort(url: URL, { ports }: TargetPolicy): void {
  const port = portOf(url);
  if (port === 0 || (ports !== "any" && !ports.includes(port))) throw new GuardRefusal("port", String(port));
}

/** `reached`: who answers there, where a NAT64 gateway stands between. Behind one no private range is opened. */
function refuseAddress(address: string, reached: string, own: readonly string[], policy: TargetPolicy): void {
  const verdict = judgeAddress(reached);
  const isOpened =
    !verdict.isPublic && verdict.mayBeOpened && reached === address && isInRange(address, policy.privateCidrs);
  if (!verdict.isPublic && !isOpened) throw new GuardRefusal("address_not_public", `${verdict.range} ${address}`);
  if (verdict.isPublic && own.some((mine) => sameAddress(mine, reached)))
    throw new GuardRefusal("address_not_public", `the gateway's own address ${address}`);
}

class Deadline extends Error {}

async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    late.reject(reason);
    stop.abort(reason);
  };
  const timer = setTimeout(() => end(new Deadline("too late")), timeoutMs);
  const onAbort = (): void => end(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  try {
    signal?.throwIfAborted();
    return await Promise.race([work(stop.signal), late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
