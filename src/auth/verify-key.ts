// From an Authorization header to a principal, or the one identical 401 (spec 5, contract 2). Looked-up keys are remembered
// for a few seconds: a revoked key stops working within that time on every process.
import { hash as digest } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import { checkFormat, hashKey } from "./key-format.ts";
import type { Principal } from "./principal.ts";

/** A revoked key works at most this long on a process that had just seen it (contract 2: within 5 s). */
const REMEMBER_MS = 4_000;
const MAX_REMEMBERED = 10_000;
/** Longer than any key of ours: refused before it is hashed. */
const MAX_HEADER_CHARACTERS = 200;

export interface VerifyKeyServices {
  readonly pepper: Buffer;
  /** The stored key with its workspace and app, null when unknown, revoked or expired by the database's clock. */
  readonly findKey: (secretHash: Buffer, testMode: boolean) => Promise<Principal | null>;
  readonly nowMs: () => number;
}

export type VerifyKey = (authorization: string | undefined) => Promise<Principal>;

export function createVerifyKey(services: VerifyKeyServices): VerifyKey {
  const remembered = new Map<string, { readonly principal: Principal; readonly untilMs: number }>();
  return async (authorization) => {
    const secret = bearerToken(authorization);
    if (secret === null || !checkFormat(secret).ok) throw unauthenticated();
    // In memory a plain digest will do, made at a tenth of the cost of the stored form's (3 of 25 µs a request).
    const cacheKey = digest("sha256", secret, "base64");
    const known = remembered.get(cacheKey);
    if (known !== undefined && known.untilMs > services.nowMs() && !hasExpired(known.principal, services.nowMs()))
      return known.principal;
    remembered.delete(cacheKey);
    const principal = await services.findKey(hashKey(services.pepper, secret), secret.startsWith("svc_test_"));
    if (principal === null) throw unauthenticated();
    // Unknown keys are not remembered: a flood of them must not push out those in use.
    if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
    remembered.set(cacheKey, { principal, untilMs: services.nowMs() + REMEMBER_MS });
    return principal;
  };
}

function bearerToken(authorization: string | undefined): string | null {
  if (authorization === undefined || authorization.length > MAX_HEADER_CHARACTERS) return null;
  return /^bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1] ?? null;
}

function hasExpired(principal: Principal, nowMs: number): boolean {
  const { expiresAt } = principal.key;
  return expiresAt !== null && expiresAt.getTime() <= nowMs;
}

/** No key, malformed, unknown, revoked and expired answer alike. */
function unauthenticated(): GatewayError {
  return new GatewayError("UNAUTHENTICATED", {
    message: "Send a valid API key as Authorization: Bearer <key>.",
    headers: { "www-authenticate": "Bearer" },
  });
}
