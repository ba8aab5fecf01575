// Verifies the API key of an Authorization header: the principal, or one identical 401. Valid keys are remembered until a change is
// announced and for a few seconds at most: that long a revoked key works where the announcement was lost.
// Requests with one key share one look-up. A key in use is looked up again before its time is over, in the background.
import { hash as digest } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { KeyId } from "../contract/ids.ts";
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import { createBatchLookUps } from "./batch-look-ups.ts";
import { checkFormat, hashKey, KEY_PREFIXES } from "./key-format.ts";
import type { Principal, StoredKey } from "./principal.ts";

/** A revoked key works at most this long on a process that had just seen it: the promise is 5 s. */
const REMEMBER_MS = 4_000;
/** From then on the next request has it looked up again, and does not wait. */
const RENEW_AFTER_MS = 3_000;
const MAX_REMEMBERED = 10_000;
/** A new key works at most this much later on a process that refused it before, where its announcement was lost. */
const REMEMBER_UNKNOWN_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Longer than any key of ours: refused before it is hashed. */
const MAX_HEADER_CHARACTERS = 200;

export interface VerifyKeyServices {
  readonly pepper: Buffer;
  /** The stored keys with workspace and app, by hash in base64; without those that are unknown, revoked or expired. */
  readonly findKeys: (secretHashes: readonly Buffer[]) => Promise<ReadonlyMap<string, StoredKey>>;
  /** Says when a key expires. */
  readonly nowMs: () => number;
  /** Says how old a look-up is, whatever sets the other clock. */
  readonly monotonicMs?: () => number;
  readonly schedule?: (run: () => void, ms: number) => void;
  /** Called for every request that a key was valid for. */
  readonly onUsed?: (key: KeyId) => void;
}

export interface KeyVerifier {
  /** At once where the key is remembered. Rejects with UNAUTHENTICATED, and throws nothing. */
  verify(authorization: string | undefined): MaybePromise<Principal>;
  /** The same by a stored hash, for a credential that was derived from the key. */
  verifyStored(secretHash: Buffer, testMode: boolean): MaybePromise<Principal>;
  /** Keys, or what they stand for, have changed: each is looked up again. */
  forget(): void;
}

interface Remembered {
  readonly principal: Principal;
  /** Of the monotonic clock. */
  readonly fromMs: number;
  /** Looked up since the last announced change. */
  readonly generation: number;
}

interface Credential {
  readonly cacheKey: string;
  readonly secretHash: () => Buffer;
  readonly testMode: boolean;
  /** It is known to be one of ours: its look-up waits for no batch of guessed keys. */
  readonly isKnown: boolean;
}

export function createKeyVerifier(services: VerifyKeyServices): KeyVerifier {
  const { monotonicMs = () => performance.now(), findKeys } = services;
  const remembered = new Map<string, Remembered>();
  /** When each key was last found to be unknown. */
  const unknown = new Map<string, number>();
  const running = new Map<string, Promise<Principal | null>>();
  const batches = createBatchLookUps({ ...services, monotonicMs });
  let generation = 0;
  const isFresh = (entry: Remembered, ageMs: number): boolean =>
    entry.generation === generation && ageMs < REMEMBER_MS && !hasExpired(entry.principal, services.nowMs);

  const remember = (cacheKey: string, principal: Principal | null, fromMs: number): void => {
    remembered.delete(cacheKey);
    unknown.delete(cacheKey);
    // Apart from the valid ones: a flood of unknown keys must not push out those in use.
    if (principal === null) putBounded(unknown, cacheKey, fromMs, MAX_UNKNOWN);
    else putBounded(remembered, cacheKey, { principal, fromMs, generation }, MAX_REMEMBERED);
  };

  const findOne = async (secretHash: Buffer): Promise<StoredKey | null> =>
    (await findKeys([secretHash])).get(secretHash.toString("base64")) ?? null;

  const lookUp = ({ cacheKey, secretHash, testMode, isKnown }: Credential): Promise<Principal | null> => {
    const shared = running.get(cacheKey);
    if (shared !== undefined) return shared;
    const fromMs = monotonicMs();
    // What was read before a change that was announced meanwhile is good for those who wait already.
    const isLatest = (): boolean => running.get(cacheKey) === asked;
    const found = isKnown || remembered.has(cacheKey) ? findOne(secretHash()) : batches.find(secretHash());
    const asked = found
      .then((key) => {
        const principal = key === null ? null : { ...key, testMode };
        if (isLatest()) remember(cacheKey, principal, fromMs);
        return principal;
      })
      .finally(() => {
        if (isLatest()) running.delete(cacheKey);
      });
    running.set(cacheKey, asked);
    return asked;
  };

  const find = (credential: Credential): Principal | Promise<Principal | null> => {
    const { cacheKey } = credential;
    const known = remembered.get(cacheKey);
    if (known === undefined) {
      const unknownFromMs = unknown.get(cacheKey);
      const isUnknown = unknownFromMs !== undefined && monotonicMs() - unknownFromMs < REMEMBER_UNKNOWN_MS;
      return isUnknown ? Promise.resolve(null) : lookUp(credential);
    }
    const ageMs = monotonicMs() - known.fromMs;
    if (!isFresh(known, ageMs)) return lookUp(credential);
    // Where the database is unavailable, the first request after the time is over reports it.
    if (ageMs >= RENEW_AFTER_MS) lookUp(credential).catch(() => undefined);
    return known.principal;
  };

  const used = (principal: Principal): Principal => {
    services.onUsed?.(principal.key.id);
    return principal;
  };

  const verifyCredential = (credential: Credential): MaybePromise<Principal> => {
    const found = find(credential);
    if (!(found instanceof Promise)) return used(found);
    return found.then((principal) => {
      if (principal === null) throw unauthenticated();
      return used(principal);
    });
  };

  return {
    verify: (authorization) => {
      const secret = bearerToken(authorization);
      if (secret === null || !checkFormat(secret).ok) return Promise.reject(unauthenticated());
      return verifyCredential({
        // In memory a plain digest will do, made at a tenth of the cost of the stored form's (3 of 25 µs a request).
        cacheKey: digest("sha256", secret, "base64"),
        secretHash: () => hashKey(services.pepper, secret),
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
      // Kept, but no longer valid without a look-up: that of a key in use does not wait behind a flood of unknown ones.
      generation += 1;
      unknown.clear();
      running.clear();
    },
  };
}

/** The oldest entry makes room. */
function putBounded<Value>(entries: Map<string, Value>, key: string, value: Value, most: number): void {
  if (entries.size >= most) entries.delete(entries.keys().next().value ?? "");
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

/** No key, malformed, unknown, revoked and expired answer alike. */
function unauthenticated(): GatewayError {
  return new GatewayError("UNAUTHENTICATED", { message: "Send a valid API key as Authorization: Bearer <key>." });
}
