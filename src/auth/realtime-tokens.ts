// Tokens that stand for a key once, for 60 s, so that a browser never holds the key itself [keys.realtime-token].
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { Database } from "../storage/database.ts";
import { insertRealtimeToken, takeRealtimeToken } from "../storage/realtime-tokens.ts";
import type { Principal } from "./principal.ts";
import type { KeyVerifier, VerifyKeyServices } from "./verify-key.ts";
import type { MaybePromise } from "../lib/concurrency/maybe-promise.ts";
import { lookUps } from "../storage/system.ts";

const LIFE_SECONDS = 60;
/** Every character is one that a subprotocol's name may have. */
const TOKEN = /^[A-Za-z0-9_-]{32}$/u;

export const isRealtimeToken = (text: string): boolean => TOKEN.test(text);

export interface RealtimeTokens {
  issue(principal: Principal): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** Rejects with UNAUTHENTICATED for an unknown, used or expired token, and for one whose key was revoked meanwhile. */
  redeem(token: string): Promise<RedeemedToken>;
}

export interface RedeemedToken {
  readonly principal: Principal;
  /** The token's key as it is now; rejects once it is revoked or expired. */
  readonly authenticate: () => MaybePromise<Principal>;
}

export interface RealtimeTokenServices extends Pick<VerifyKeyServices, "pepper" | "findKeys"> {
  readonly database: Database;
  readonly keys: Pick<KeyVerifier, "verifyStored">;
}

export function createRealtimeTokens({ database, pepper, findKeys, keys }: RealtimeTokenServices): RealtimeTokens {
  return {
    issue: async ({ workspace, app, key, testMode }) => {
      const token = createToken(pepper);
      const owner = { workspaceId: workspace.id, appId: app?.id ?? null, keyId: key.id, testMode };
      const expiresAt = await database.inWorkspace(workspace.id, (tx) =>
        insertRealtimeToken(tx, hashOf(token), owner, LIFE_SECONDS),
      );
      return { token, expiresAt };
    },
    redeem: async (token) => {
      const taken = isAuthentic(token, pepper) ? await takeRealtimeToken(lookUps(database).db, hashOf(token)) : null;
      const key = taken === null ? undefined : (await findKeys([taken.secretHash])).values().next().value;
      if (taken === null || key === undefined) {
        throw new GatewayError("UNAUTHENTICATED", {
          message: "The token is unknown, used or expired. Fetch a new one for every connection.",
        });
      }
      const { secretHash, testMode } = taken;
      return { principal: { ...key, testMode }, authenticate: () => keys.verifyStored(secretHash, testMode) };
    },
  };
}

const RANDOM_BYTES = 16;
const MAC_BYTES = 8;

function createToken(pepper: Buffer): string {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, macOf(pepper, random)]).toString("base64url");
}

/** Made by a process of this installation: a flood of guessed tokens costs no look-up. */
function isAuthentic(token: string, pepper: Buffer): boolean {
  if (!isRealtimeToken(token)) return false;
  const bytes = Buffer.from(token, "base64url");
  return timingSafeEqual(macOf(pepper, bytes.subarray(0, RANDOM_BYTES)), bytes.subarray(RANDOM_BYTES));
}

function macOf(pepper: Buffer, random: Buffer): Buffer {
  return createHmac("sha256", pepper).update("realtime-token").update(random).digest().subarray(0, MAC_BYTES);
}

/** Random enough that no slow hash is needed. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
