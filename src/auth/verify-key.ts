// Verifies the API key of an Authorization header and returns its principal, or one uniform 401. Valid keys are cached until a change is announced and for at
// most 4 s, which bounds how long a revoked key works after a lost announcement.
import { createSecretKey, hash as digest } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { KeyId } from "../contract/ids.ts";
import { createBatchLookUps } from "./batch-look-ups.ts";
import { checkFormat, hashKey, KEY_PREFIXES } from "./key-format.ts";
import type { Principal, StoredKey } from "./principal.ts";

/** How long a valid key is cached. A revoked key works at most this long on a process that has just seen it: the promise is 5 s. */
const CACHE_MS = 4_000;
/** From this age on, the next request refreshes the key in the background. */
const REFRESH_AFTER_MS = 3_000;
const MAX_CACHED = 10_000;
/** How long an unknown key is cached. A new key works at most this much later on a process that refused it before, if its announcement was lost. */
const CACHE_UNKNOWN_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Longer than any valid key: refused before it is hashed. */
const MAX_HEADER_CHARACTERS = 200;

export interface VerifyKeyServices {
  readonly pepper: Buffer;
  /** Returns stored keys with workspace and app, by hash in base64. Unknown, revoked and expired keys are missing. */
  readonly findKeys: (secretHashes: readonly Buffer[]) => Promise<ReadonlyMap<string, StoredKey>>;
  /** The clock for the expiry of keys. */
  readonly nowMs: () => number;
  /** The clock for the age of look-ups, independent of changes of the system clock. */
  readonly monotonicMs?: () => number;
  readonly schedule?: (run: () => void, ms: number) => void;
  /** Called for every request with a valid key. */
  readonly onUsed?: (key: KeyId) => void;
}

export interface KeyVerifier {
  /**
   * Concurrent requests share a look-up, and a key in use is refreshed in the background. Rejects with UNAUTHENTICATED.
   */
  verify(authorization: string | undefined): Promise<Principal>;
  /** The same for a stored hash, for a credential that was derived from the key. */
  verifyStored(secretHash: Buffer, testMode: boolean): Promise<Principal>;
  /** Invalidates the cache after a change of keys, apps or workspaces: each key is looked up again. */
  forget(): void;
}

interface CacheEntry {
  readonly principal: Principal;
  /** Start of the look-up, by the monotonic clock. */
  readonly fromMs: number;
  /** Generation of the cache at the look-up. Each announced change starts a new one. */
  readonly generation: number;
}

interface Credential {
  readonly cacheKey: string;
  readonly secretHash: () => Buffer;
  readonly testMode: boolean;
  /** Whether the credential is known to be genuine: then its look-up is not in batches of keys that may be guessed. */
  readonly isKnown: boolean;
}

export function createKeyVerifier(services: VerifyKeyServices): KeyVerifier {
  const { monotonicMs = () => performance.now() } = services;
  const cache = new Map<string, CacheEntry>();
  /** Time at which each key was last found to be unknown. */
  const unknown = new Map<string, number>();
  const running = new Map<string, Promise<Principal | null>>();
  const unknownKeys = createBatchLookUps({ ...services, monotonicMs, isPaced: true });
  const knownKeys = createBatchLookUps({ ...services, monotonicMs, isPaced: false });
  const pepper = createSecretKey(services.pepper);
  let generation = 0;
  const isFresh = (entry: CacheEntry, ageMs: number): boolean =>
    entry.generation === generation && ageMs < CACHE_MS && !hasExpired(entry.principal, services.nowMs);

  const updateCache = (cacheKey: string, principal: Principal | null, fromMs: number): void => {
    cache.delete(cacheKey);
    unknown.delete(cacheKey);
    // Separate from the valid keys, so that a flood of unknown ones does not evict those in use.
    if (principal === null) putBounded(unknown, cacheKey, fromMs, MAX_UNKNOWN);
    else putBounded(cache, cacheKey, { principal, fromMs, generation }, MAX_CACHED);
  };

  const lookUp = ({ cacheKey, secretHash, testMode, isKnown }: Credential): Promise<Principal | null> => {
    const inFlight = running.get(cacheKey);
    if (inFlight !== undefined) return inFlight;
    const fromMs = monotonicMs();
    // A result read before a change that was announced meanwhile is used only for requests that already wait for it.
    const isLatest = (): boolean => running.get(cacheKey) === lookup;
    const lookup = (isKnown || cache.has(cacheKey) ? knownKeys : unknownKeys)
      .find(secretHash())
      .then((key) => {
        const principal = key === null ? null : { ...key, testMode };
        if (isLatest()) updateCache(cacheKey, principal, fromMs);
        return principal;
      })
      .finally(() => {
        if (isLatest()) running.delete(cacheKey);
      });
    running.set(cacheKey, lookup);
    return lookup;
  };

  /** Undefined: it must be looked up. Null: a look-up a moment ago found none. */
  const findCached = (credential: Credential): Principal | null | undefined => {
    const { cacheKey } = credential;
    const cached = cache.get(cacheKey);
    if (cached === undefined) {
      const unknownFromMs = unknown.get(cacheKey);
      return unknownFromMs !== undefined && monotonicMs() - unknownFromMs < CACHE_UNKNOWN_MS ? null : undefined;
    }
    const ageMs = monotonicMs() - cached.fromMs;
    if (!isFresh(cached, ageMs)) return undefined;
    // If the database is unavailable, the first request after the cache entry expires reports it.
    if (ageMs >= REFRESH_AFTER_MS) lookUp(credential).catch(() => undefined);
    return cached.principal;
  };

  const verifyCredential = async (credential: Credential): Promise<Principal> => {
    const cached = findCached(credential);
    const principal = cached === undefined ? await lookUp(credential) : cached;
    if (principal === null) throw unauthenticated();
    services.onUsed?.(principal.key.id);
    return principal;
  };

  return {
    verify: async (authorization) => {
      const secret = bearerToken(authorization);
      if (secret === null || !checkFormat(secret).ok) throw unauthenticated();
      return verifyCredential({
        // A plain digest is enough in memory, at a tenth of the cost of the stored form's (3 of 25 µs per request).
        cacheKey: digest("sha256", secret, "base64"),
        secretHash: () => hashKey(pepper, secret),
        testMode: secret.startsWith(KEY_PREFIXES.test),
        isKnown: false,
      });
    },
    verifyStored: (secretHash, testMode) =>
      verifyCredential({
        cacheKey: `${testMode ? "test" : "live"} ${secretHash.toString("base64")}`,
        secretHash: () => secretHash,
        testMode,
        isKnown: true,
      }),
    forget: () => {
      // Entries stay but need a look-up: keys in use are not delayed by a flood of unknown ones.
      generation += 1;
      unknown.clear();
      running.clear();
    },
  };
}

/** Evicts the oldest entry if the map is full. */
function putBounded<Value>(entries: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  if (entries.size >= maxSize) entries.delete(entries.keys().next().value ?? "");
  entries.set(key, value);
}

function bearerToken(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > MAX_HEADER_CHARACTERS) return null;
  return /^bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1] ?? null;
}

function hasExpired(principal: Principal, nowMs: () => number): boolean {
  const { expiresAt } = principal.key;
  return expiresAt !== null && expiresAt.getTime() <= nowMs();
}

/** Missing, malformed, unknown, revoked and expired keys get the same response. */
function unauthenticated(): GatewayError {
  return new GatewayError("UNAUTHENTICATED", { message: "Send a valid API key as Authorization: Bearer <key>." });
}
