// Creates and redeems realtime tokens [keys.realtime-token]: each opens one live transcription in place of an API key, within 60 s, so that a browser never
// has the key itself.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { Database } from "../storage/database.ts";
import { insertRealtimeToken, takeRealtimeToken } from "./store/realtime-tokens.ts";
import type { Principal } from "./principal.ts";
import type { KeyVerifier, VerifyKeyServices } from "./verify-key.ts";
import { bypassRls } from "../storage/system.ts";

const TTL_SECONDS = 60;
/** Contains only characters that a WebSocket subprotocol name allows. */
const TOKEN = /^[A-Za-z0-9_-]{32}$/u;

export const isRealtimeToken = (text: string): boolean => TOKEN.test(text);

export interface RealtimeTokens {
  issue(principal: Principal): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** Rejects with UNAUTHENTICATED if the token is unknown, used or expired, or its key was revoked meanwhile. */
  redeem(token: string): Promise<RedeemedToken>;
}

export interface RedeemedToken {
  readonly principal: Principal;
  /** Verifies the token's key again. Rejects once it is revoked or expired. */
  readonly authenticate: () => Promise<Principal>;
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
        insertRealtimeToken(tx, hashOf(token), owner, TTL_SECONDS),
      );
      return { token, expiresAt };
    },
    redeem: async (token) => {
      const redeemed = isAuthentic(token, pepper)
        ? await takeRealtimeToken(bypassRls(database, "lookup").db, hashOf(token))
        : null;
      const key = redeemed === null ? undefined : (await findKeys([redeemed.secretHash])).values().next().value;
      if (redeemed === null || key === undefined) {
        throw new GatewayError("UNAUTHENTICATED", {
          message: "The token is unknown, used or expired. Create a new one for every connection.",
        });
      }
      const { secretHash, testMode } = redeemed;
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

/** Whether this installation issued the token. Checked first, so that a flood of guessed tokens costs no look-up. */
function isAuthentic(token: string, pepper: Buffer): boolean {
  if (!isRealtimeToken(token)) return false;
  const bytes = Buffer.from(token, "base64url");
  return timingSafeEqual(macOf(pepper, bytes.subarray(0, RANDOM_BYTES)), bytes.subarray(RANDOM_BYTES));
}

function macOf(pepper: Buffer, random: Buffer): Buffer {
  return createHmac("sha256", pepper).update("realtime-token").update(random).digest().subarray(0, MAC_BYTES);
}

/** The token is random enough that a fast hash is safe. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
