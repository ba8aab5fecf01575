// Simulates Google's token endpoint for service accounts (RFC 7523).
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { jsonAnswer, type WireAnswer, type WireInput } from "../wire/wire.ts";

const claims = z.object({
  iss: z.string().min(1),
  scope: z.literal("https://www.googleapis.com/auth/cloud-platform"),
  aud: z.literal("https://oauth2.googleapis.com/token"),
  iat: z.number(),
  exp: z.number(),
});

/** Validates the assertion (RFC 7523) except its signature, because the sandbox has no public key. */
export async function exchangeToken({ file }: WireInput): Promise<WireAnswer> {
  const refuse = (error: string, description: string): WireAnswer =>
    jsonAnswer(400, { error, error_description: description });
  const bytes = file?.spooled.content.kind === "bytes" ? file.spooled.content.bytes : new Uint8Array();
  const form = new URLSearchParams(Buffer.from(bytes).toString());
  if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer")
    return refuse("unsupported_grant_type", "Invalid grant_type");
  const [header = "", body = "", signature = ""] = (form.get("assertion") ?? "").split(".");
  const assertion = claims.safeParse(decodePart(body));
  if (
    !assertion.success ||
    signature === "" ||
    z.object({ alg: z.literal("RS256") }).safeParse(decodePart(header)).error
  )
    return refuse("invalid_grant", "Invalid JWT");
  const { iss, iat, exp } = assertion.data;
  if (exp - iat > 3600 || Math.abs(iat - Date.now() / 1000) > 300 || iss.startsWith("invalid@"))
    return refuse(
      "invalid_grant",
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
    );
  return jsonAnswer(200, { access_token: `ya29.sandbox-${randomUUID()}`, expires_in: 3599, token_type: "Bearer" });
}

function decodePart(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString());
  } catch {
    return null;
  }
}
