// From an Authorization header to a principal, or the one identical 401 (spec 5, contract 2). Looked-up keys are remembered
// until a change is announced, and at most for a few seconds: so long a revoked key works where the announcement was lost.
// Requests with one key share one look-up, and a key in use is looked up anew before its time is over: nobody waits for it.
import { hash as digest } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { KeyId } from "../contract/ids.ts";
import type { Soon } from "../lib/soon.ts";
import { checkFormat, hashKey, KEY_PREFIXES } from "./key-format.ts";
import type { Principal } from "./principal.ts";

/** A revoked key works at most this long on a process that had just seen it (contract 2: within 5 s). */
const REMEMBER_MS = 4_000;
/** From then on the next request has it looked up again, and does not wait. */
const RENEW_AFTER_MS = 3_000;
const MAX_REMEMBERED = 10_000;
/** Longer than any key of ours: refused before it is hashed. */
const MAX_HEADER_CHARACTERS = 200;

export interface VerifyKeyServices {
  readonly pepper: Buffer;
  /** The stored key with its workspace and app, null when unknown, revoked or expired by the database's clock. */
  readonly findKey: (secretHash: Buffer, testMode: boolean) => Promise<Principal | null>;
  /** Says when a key expires. */
  readonly nowMs: () => number;
  /** Says how old a look-up is, whoever sets the other clock. */
  readonly monotonicMs?: () => number;
  /** Told of every request that a key was good for. */
  readonly onUsed?: (key: KeyId) => void;
}

export interface KeyVerifier {
  /** At once where the key is remembered. Rejects with UNAUTHENTICATED, and throws nothing. */
  verify(authorization: string | undefined): Soon<Principal>;
  /** Keys, or what they stand for, have changed: each is looked up again. */
  forget(): void;
}

interface Remembered {
  readonly principal: Principal;
  /** Of the monotonic clock. */
  readonly fromMs: number;
}

export function createKeyVerifier(services: VerifyKeyServices): KeyVerifier {
  const { monotonicMs = () => performance.now() } = services;
  const remembered = new Map<string, Remembered>();
  const underWay = new Map<string, Promise<Principal | null>>();
  const isFresh = ({ principal }: Remembered, ageMs: number): boolean =>
    ageMs < REMEMBER_MS && !hasExpired(principal, services.nowMs);

  const remember = (cacheKey: string, principal: Principal | null, fromMs: number): void => {
    remembered.delete(cacheKey);
    // Unknown keys are not remembered: a flood of them must not push out those in use.
    if (principal === null) return;
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
    remembered.set(cacheKey, { principal, fromMs });
  };

  const lookUp = (cacheKey: string, secret: string): Promise<Principal | null> => {
    const shared = underWay.get(cacheKey);
    if (shared !== undefined) return shared;
    const fromMs = monotonicMs();
    // What was read before a change that was announced meanwhile is good for those who wait already.
    const isLatest = (): boolean => underWay.get(cacheKey) === asked;
    const asked = services
      .findKey(hashKey(services.pepper, secret), secret.startsWith(KEY_PREFIXES.test))
      .then((principal) => {
        if (isLatest()) remember(cacheKey, principal, fromMs);
        return principal;
      })
      .finally(() => {
        if (isLatest()) underWay.delete(cacheKey);
      });
    underWay.set(cacheKey, asked);
    return asked;
  };

  const find = (cacheKey: string, secret: string): Principal | Promise<Principal | null> => {
    const known = remembered.get(cacheKey);
    if (known === undefined) return lookUp(cacheKey, secret);
    const ageMs = monotonicMs() - known.fromMs;
    if (!isFresh(known, ageMs)) return lookUp(cacheKey, secret);
    // Where the database is away, whoever comes when the time is over hears of it.
    if (ageMs >= RENEW_AFTER_MS) lookUp(cacheKey, secret).catch(() => undefined);
    return known.principal;
  };

  const used = (principal: Principal): Principal => {
    services.onUsed?.(principal.key.id);
    return principal;
  };

  return {
    verify: (authorization) => {
      const secret = bearerToken(authorization);
      if (secret === null || !checkFormat(secret).ok) return Promise.reject(unauthenticated());
      // In memory a plain digest will do, made at a tenth of the cost of the stored form's (3 of 25 µs a request).
      const found = find(digest("sha256", secret, "base64"), secret);
      if (!(found instanceof Promise)) return used(found);
      return found.then((principal) => {
        if (principal === null) throw unauthenticated();
        return used(principal);
      });
    },
    forget: () => {
      remembered.clear();
      underWay.clear();
    },
  };
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
