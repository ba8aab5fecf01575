// Tokens that stand for a key once, for 60 s, so that a browser never holds the key itself (contract 10).
import { createHash, randomBytes } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import type { Database } from "../storage/database.ts";
import { insertRealtimeToken, takeRealtimeToken } from "../storage/realtime-tokens.ts";
import type { Principal } from "./principal.ts";
import type { VerifyKeyServices } from "./verify-key.ts";
import { lookUps } from "../storage/system.ts";

const LIFE_SECONDS = 60;
/** Every character is one that a subprotocol's name may have. */
const TOKEN = /^[A-Za-z0-9_-]{32}$/u;

export const isRealtimeToken = (text: string): boolean => TOKEN.test(text);

export interface RealtimeTokens {
  issue(principal: Principal): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** Throws UNAUTHENTICATED for what is unknown, used or expired, and for one whose key was revoked meanwhile. */
  redeem(token: string): Promise<Principal>;
}

export function createRealtimeTokens(database: Database, findKey: VerifyKeyServices["findKey"]): RealtimeTokens {
  return {
    issue: async ({ workspace, app, key, testMode }) => {
      const token = randomBytes(24).toString("base64url");
      const owner = { workspaceId: workspace.id, appId: app?.id ?? null, keyId: key.id, testMode };
      const expiresAt = await database.inWorkspace(workspace.id, (tx) =>
        insertRealtimeToken(tx, hashOf(token), owner, LIFE_SECONDS),
      );
      return { token, expiresAt };
    },
    redeem: async (token) => {
      const taken = isRealtimeToken(token) ? await takeRealtimeToken(lookUps(database).db, hashOf(token)) : null;
      const principal = taken === null ? null : await findKey(taken.secretHash, taken.testMode);
      if (principal === null) {
        throw new GatewayError("UNAUTHENTICATED", {
          message: "The token is unknown, used or expired. Fetch a new one for every connection.",
        });
      }
      return principal;
    },
  };
}

/** Random enough that no slow hash is needed. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
