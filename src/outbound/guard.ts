// The SSRF guard of every request to a caller-supplied URL [remote-audio.guard-always-runs]. Fixed order, no setting skips a step: scheme, URL syntax, port,
// allowlist, one DNS resolution, every address public, dial a vetted address with the name's certificate, compare the address that the socket reached.
import type { Socket } from "node:net";
import { behindNat64, sameAddress } from "./address.ts";
import { ConnectFailure, GuardRefusal } from "./refusal.ts";
import type { TargetPolicy } from "./url-policy.ts";
import {
  addressesRefusal,
  bareHost,
  listRefusal,
  nameRefusal,
  parseTarget,
  portOf,
  portRefusal,
  schemeRefusal,
  selfRefusal,
} from "./ssrf-rules.ts";

/** Resolves all current IPv4 and IPv6 addresses of a name. Absolute names only: no search list. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ConnectTarget {
  readonly address: string;
  readonly port: number;
  /** Use TLS and require this name's certificate, or for a literal the address's own. Null: plain TCP. */
  readonly tlsName: string | null;
}

/** Opens a socket to exactly this address, including TLS. Throws `ConnectFailure`. */
export type Connect = (
  target: ConnectTarget,
  signal: AbortSignal,
) => Promise<{ readonly socket: Socket; readonly remoteAddress: string | undefined }>;

export interface GuardOptions {
  readonly resolve: Resolve;
  readonly connect: Connect;
  /** Where this gateway itself listens, as `host:port`, and this machine's addresses: it must not be made to call itself. */
  readonly own?: () => { readonly endpoints: readonly string[]; readonly addresses: readonly string[] };
  /** This machine reaches IPv4 by NAT64, so such an address is judged by the embedded one. Otherwise it is refused whatever it embeds. */
  readonly nat64?: boolean;
  readonly dnsTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

/** A target that passed every rule that can be checked before a socket is open. */
export interface VettedTarget {
  readonly url: URL;
  /** The query is byte for byte the caller's, because it may be signed. */
  readonly pathAndQuery: string;
  readonly addresses: readonly string[];
}

/** In the order of evaluation. */
export type GuardRule = "scheme" | "form" | "port" | "name" | "listed" | "not_itself" | "public";

export interface Finding {
  readonly rule: GuardRule;
  /** Null: the target satisfies the rule. */
  readonly refusal: GuardRefusal | null;
}

/** The result of each rule that could be checked. A name is resolved only if all earlier rules hold. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Null: the text is not a URL. */
  readonly host: string | null;
  /** Addresses of the name. Empty if it was not resolved. */
  readonly addresses: readonly string[];
}

type Judgement = Examination &
  (
    | { readonly refusal: null; readonly target: VettedTarget }
    /** The first refusal, which is the one that a request fails with. */
    | { readonly refusal: GuardRefusal; readonly target: null }
  );

export interface Guard {
  /** Judges as `vet` does, and reports the result of each rule. */
  examine(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<Examination>;
  vet(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<VettedTarget>;
  /** Vets the target, then dials the vetted address. */
  dial(
    rawUrl: string,
    policy: TargetPolicy,
    signal?: AbortSignal,
  ): Promise<{ readonly target: VettedTarget; readonly socket: Socket }>;
  /** Targets judged since the start. */
  judged(): number;
}

const DNS_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;

export function createGuard(options: GuardOptions): Guard {
  const { resolve, connect, own } = options;
  const dnsTimeoutMs = options.dnsTimeoutMs ?? DNS_TIMEOUT_MS;
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const reachedBy = options.nat64 === true ? behindNat64 : (address: string): string => address;
  let judged = 0;

  async function judge(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<Judgement> {
    judged++;
    const scheme = schemeRefusal(rawUrl, policy);
    const findings: Finding[] = scheme === "none" ? [] : [{ rule: "scheme", refusal: scheme }];
    const parsed = parseTarget(rawUrl);
    if (parsed instanceof GuardRefusal) {
      findings.push({ rule: parsed.reason === "malformed" ? "form" : "name", refusal: parsed });
      return { findings, host: null, addresses: [], target: null, refusal: firstIn(findings) ?? parsed };
    }
    const { url, host, pathAndQuery } = parsed;
    const self = own?.() ?? { endpoints: [], addresses: [] };
    findings.push(
      { rule: "form", refusal: null },
      { rule: "port", refusal: portRefusal(url, policy) },
      { rule: "name", refusal: nameRefusal(parsed, policy) },
      { rule: "listed", refusal: listRefusal(parsed, policy) },
      { rule: "not_itself", refusal: selfRefusal(parsed, self.endpoints) },
    );
    const byItsText = firstIn(findings);
    if (byItsText !== null) return { findings, host, addresses: [], target: null, refusal: byItsText };
    const resolution = parsed.kind === "literal" ? [host] : await lookUp(host, signal);
    const addresses = resolution instanceof GuardRefusal ? [] : resolution;
    const refusal =
      resolution instanceof GuardRefusal
        ? resolution
        : addressesRefusal(url, resolution, { own: self.addresses, reachedBy }, policy);
    findings.push({ rule: "public", refusal });
    return refusal === null
      ? { findings, host, addresses, refusal, target: { url, pathAndQuery, addresses } }
      : { findings, host, addresses, refusal, target: null };
  }

  async function vet(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<VettedTarget> {
    const { refusal, target } = await judge(rawUrl, policy, signal);
    if (refusal !== null) throw refusal;
    return target;
  }

  async function lookUp(host: string, signal?: AbortSignal): Promise<readonly string[] | GuardRefusal> {
    try {
      return await withDeadline(dnsTimeoutMs, signal, (stop) => resolve(host, stop));
    } catch (error) {
      signal?.throwIfAborted();
      // A caller cannot distinguish not found, no answer and not public [remote-audio.opaque-name] (SSRF-413).
      const reason = error instanceof Error ? error.message : "";
      return new GuardRefusal("address_not_public", `not resolved: ${reason}`, true);
    }
  }

  return {
    examine: judge,
    vet,
    judged: () => judged,
    async dial(rawUrl, policy, signal) {
      const target = await vet(rawUrl, policy, signal);
      return { target, socket: await dialVetted(connect, target, connectTimeoutMs, signal) };
    },
  };
}

const firstIn = (findings: readonly Finding[]): GuardRefusal | null =>
  findings.find(({ refusal }) => refusal !== null)?.refusal ?? null;

/** Tries the vetted addresses in order until one answers. Each may use half of the remaining time, the last one all of it. */
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
