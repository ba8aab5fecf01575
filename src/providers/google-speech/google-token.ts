// Exchanges a Google service account key for an access token: a signed JWT is sent to the token endpoint (RFC 7523; docs/decisions/0010). A credential that is
// not such a key is used as an access token.
import { bufferedBody } from "../../lib/buffered-body.ts";
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { type FailureKind, type Io, ProviderError, type WireRequest } from "../io.ts";
import type { CachedValue } from "../memory.ts";
import { providerFailure } from "../wire/provider-failure.ts";
import { parsedReply, retryAfterSeconds } from "../wire/read-reply.ts";
import { nothingBegun } from "../wire/run-remote.ts";

const serviceAccount = z.object({
  client_email: z.string().min(3),
  private_key: z.string().startsWith("-----BEGIN"),
  private_key_id: z.string().nullish(),
  project_id: z.string().nullish(),
});
export type ServiceAccount = z.infer<typeof serviceAccount>;

/** Null: not such a key, though it may be a token. */
export function readServiceAccount(credential: string): ServiceAccount | null {
  if (!credential.trimStart().startsWith("{")) return null;
  try {
    return serviceAccount.parse(JSON.parse(credential));
  } catch {
    return null;
  }
}

export function isServiceAccountOrToken(credential: string): boolean {
  return !credential.trimStart().startsWith("{") || readServiceAccount(credential) !== null;
}

const AUDIENCE = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFE_SECONDS = 3_600;
/** Discarded this long before it expires, so that no call outlives its token. */
const MARGIN_SECONDS = 300;
const NAME = "google-access-token";

/** The authorization header of a call. Empty for servers without a credential. */
export async function googleAuthorization(io: Io): Promise<Readonly<Record<string, string>>> {
  const { credential } = io;
  if (credential === null) return {};
  if (!credential.trimStart().startsWith("{")) return { authorization: `Bearer ${credential}` };
  const account = readServiceAccount(credential);
  if (account === null) throw new ProviderError("unauthorized", { reason: "no_service_account" });
  return { authorization: `Bearer ${await io.remember(NAME, () => exchange(account, io))}` };
}

/** A refused token must be requested again: the account may have been disabled and re-enabled meanwhile. */
export function forgetGoogleToken(io: Io): void {
  io.forget(NAME);
}

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

async function exchange(account: ServiceAccount, io: Io): Promise<CachedValue> {
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: await assertionOf(account, Math.floor(io.nowMs() / 1000)),
  });
  const body = Buffer.from(form.toString());
  const request: WireRequest = {
    method: "POST",
    path: "/token",
    siblings: [{ domain: "googleapis.com", origin: "https://oauth2.googleapis.com" }],
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: bufferedBody(body),
    isFree: true,
    maxReplyBytes: 64 * 1024,
  };
  const reply = await io.send(request).catch((error: unknown) => {
    throw nothingBegun(error, "token");
  });
  const answered = parsedReply(reply);
  const parsed = token.safeParse(reply.status === 200 ? answered : undefined);
  if (!parsed.success) {
    throw new ProviderError(failureKind(reply.status), {
      status: reply.status,
      reason: "token",
      retryAfterSeconds: retryAfterSeconds(reply.headers),
      provider: providerFailure(reply, answered, io.credential),
    });
  }
  const { access_token: value, expires_in: seconds } = parsed.data;
  return { value, forMs: Math.max(0, seconds - MARGIN_SECONDS) * 1000 };
}

/** `invalid_grant` and similar errors are 400s about the account. */
function failureKind(status: number): FailureKind {
  if (status === 429) return "rate_limited";
  return status >= 400 && status < 500 ? "unauthorized" : "server_error";
}

async function assertionOf(account: ServiceAccount, nowSeconds: number): Promise<string> {
  // Loaded by the first call of such an account.
  const { SignJWT } = await import("jose");
  const jwt = new SignJWT({ scope: SCOPE })
    .setProtectedHeader({
      alg: "RS256",
      typ: "JWT",
      ...(account.private_key_id == null ? {} : { kid: account.private_key_id }),
    })
    .setIssuer(account.client_email)
    .setAudience(AUDIENCE)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + LIFE_SECONDS);
  try {
    return await jwt.sign(createPrivateKey(account.private_key));
  } catch {
    // Without a cause: the key's parser may quote the key.
    throw new ProviderError("unauthorized", { reason: "private_key" });
  }
}
