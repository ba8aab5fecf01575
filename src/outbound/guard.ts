// The guard of every request to an address that a caller supplied [remote-audio.guard-always-runs]. One order for all of them:
// scheme → text and what a parser makes of it → port → allowlist → one resolution → every address public → dial that address with the
// name's certificate → compare the address that the socket reached. No setting skips a step.
import type { Socket } from "node:net";
import { behindNat64, sameAddress } from "./address.ts";
import { ConnectFailure, GuardRefusal } from "./refusal.ts";
import type { TargetPolicy } from "./target-policy.ts";
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
} from "./target-rules.ts";

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

/** In the order of judgement. */
export type GuardRule = "scheme" | "form" | "port" | "name" | "listed" | "not_itself" | "public";

export interface Finding {
  readonly rule: GuardRule;
  /** Null: it holds. */
  readonly refusal: GuardRefusal | null;
}

/** What each rule said that could be judged. What a name resolves to is asked only where all before it hold. */
export interface Examination {
  readonly findings: readonly Finding[];
  /** Null: the text is no URL. */
  readonly host: string | null;
  /** Those that the name has; none where it was not asked. */
  readonly addresses: readonly string[];
}

type Judgement = Examination &
  (
    | { readonly refusal: null; readonly target: VettedTarget }
    /** The first one: it is what a request is told. */
    | { readonly refusal: GuardRefusal; readonly target: null }
  );

export interface Guard {
  /** Judges as `vet` does, and tells of each rule what came of it. */
  examine(rawUrl: string, policy: TargetPolicy, signal?: AbortSignal): Promise<Examination>;
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
    const found = parsed.kind === "literal" ? [host] : await lookUp(host, signal);
    const addresses = found instanceof GuardRefusal ? [] : found;
    const refusal =
      found instanceof GuardRefusal ? found : addressesRefusal(url, found, { own: self.addresses, reachedBy }, policy);
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
      // A caller cannot tell not found, no answer and not public apart [remote-audio.opaque-name] (SSRF-413).
      const why = error instanceof Error ? error.message : "";
      return new GuardRefusal("address_not_public", `not resolved: ${why}`, true);
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
