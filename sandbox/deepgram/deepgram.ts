// Simulates Deepgram's pre-recorded endpoint `POST /v1/listen`.
import { deepgramReply } from "./deepgram-reply.ts";
import { deepgramError, errorForStatus } from "./deepgram-errors.ts";
import { judgeDeepgramQuery } from "./deepgram-rules.ts";
import { type Alteration, jsonAnswer, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

const MAX_CHANNELS = 20;

export const deepgramWire: Wire = {
  name: "deepgram",
  body: "raw",
  maxBodyBytes: 2_000_000_000,
  errorFor: errorForStatus,
  answer,
};

async function answer(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
  const { requestId, file } = input;
  const refuse = (message: string): WireAnswer => deepgramError(400, "Bad Request", message, requestId);
  if (!isAuthorized(input.headers.authorization))
    return deepgramError(401, "INVALID_AUTH", "Invalid credentials.", requestId);
  if (input.defect === "too_large")
    return deepgramError(413, "PAYLOAD_TOO_LARGE", "Request body exceeds the 2 GB limit.", requestId);
  const verdict = judgeDeepgramQuery(input.query);
  if (!verdict.ok) return deepgramError(400, verdict.code, verdict.message, requestId);
  if (/^application\/json\b/i.test(input.headers["content-type"] ?? "")) {
    return deepgramError(
      400,
      "REMOTE_CONTENT_ERROR",
      "The sandbox fetches nothing: send the audio as the body.",
      requestId,
    );
  }
  const facts = await input.measure();
  if (!facts.ok || file === null) return refuse("Bad Request: failed to process audio: corrupt or unsupported data");
  if (verdict.asked.isMultichannel && facts.channels > MAX_CHANNELS)
    return refuse(`Bad Request: multichannel is limited to ${MAX_CHANNELS} channels`);
  return deepgramReply({ asked: verdict.asked, facts, requestId, sha256: file.spooled.sha256, alteration });
}

/** Simulates `GET /v1/auth/token`, which Deepgram's documentation of keys recommends for testing one. */
export const deepgramKeyWire: Wire = {
  name: "deepgram",
  step: "probe",
  body: "none",
  maxBodyBytes: 1_048_576,
  errorFor: errorForStatus,
  answer: async ({ headers, requestId }) =>
    isAuthorized(headers.authorization)
      ? jsonAnswer(
          200,
          {
            api_key_id: "00000000-0000-4000-8000-000000000000",
            scopes: ["usage:write"],
            created: "2026-11-20T00:00:00Z",
          },
          { "dg-request-id": requestId },
        )
      : deepgramError(401, "INVALID_AUTH", "Invalid credentials.", requestId),
};

/** `Token <key>`. `Bearer` is for temporary tokens, which are JWTs, and is refused with an ordinary key. */
export function isAuthorized(header: string | undefined): boolean {
  const [scheme, credential, ...rest] = (header ?? "").split(" ");
  if (credential === undefined || credential === "" || credential === "invalid" || rest.length > 0) return false;
  if (scheme?.toLowerCase() === "token") return true;
  return scheme?.toLowerCase() === "bearer" && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);
}
