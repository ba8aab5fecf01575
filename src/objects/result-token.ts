// Signs and verifies the URLs of job results, `/v1/transcription/results/<token>` [jobs.result-token]. A token opens one job's result by GET until
// it expires and needs no other credential, so it cannot be forged and must not be logged.
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

export interface ResultClaim {
  readonly workspaceId: string;
  readonly jobId: string;
}

export interface ResultTokens {
  sign(claim: ResultClaim, expiresAt: Date): string;
  /** Null if the token does not open a result now. The reason is not disclosed. */
  verify(token: string, request: { readonly method: string; readonly now: Date }): ResultClaim | null;
}

const METHOD = "GET";
const MAC_BYTES = 32;
const MAX_TOKEN_CHARACTERS = 512;
/** The last part is a nonce that makes every token unique. Tokens of earlier versions lack it. */
const CLAIM = /^(\d{1,12}) ([A-Za-z0-9_]{1,64}) ([A-Za-z0-9_]{1,64})(?: [0-9a-f]{16})?$/;
const NONCE_BYTES = 8;

/** `secret` is the deployment's key pepper: the same in every process, and used only to derive keys. */
export function createResultTokens({ secret }: { readonly secret: Buffer }): ResultTokens {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "patchbay result url 1", MAC_BYTES));
  const mac = (method: string, claim: string) => createHmac("sha256", key).update(`${method} ${claim}`).digest();
  return {
    sign({ workspaceId, jobId }, expiresAt) {
      const seconds = Math.ceil(expiresAt.getTime() / 1000);
      const claim = `${seconds} ${workspaceId} ${jobId} ${randomBytes(NONCE_BYTES).toString("hex")}`;
      if (!CLAIM.test(claim)) throw new Error("a result token is made of a workspace's and a job's id");
      return Buffer.concat([mac(METHOD, claim), Buffer.from(claim)]).toString("base64url");
    },
    verify(token, { method, now }) {
      if (token.length > MAX_TOKEN_CHARACTERS) return null;
      const bytes = Buffer.from(token, "base64url");
      // Base64 decoding ignores foreign characters and stray bits. Only the canonical spelling of a token is accepted.
      if (bytes.length <= MAC_BYTES || bytes.toString("base64url") !== token) return null;
      const claim = bytes.subarray(MAC_BYTES).toString("latin1");
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(method, claim))) return null;
      const [, expiresAt, workspaceId, jobId] = CLAIM.exec(claim) ?? [];
      if (workspaceId === undefined || jobId === undefined) return null;
      return now.getTime() < Number(expiresAt) * 1000 ? { workspaceId, jobId } : null;
    },
  };
}
