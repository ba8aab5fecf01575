// Live transcription as callers see it: the frames of the socket [realtime.events], and the token that opens one
// [realtime.token-single-use].
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";
import { transcriptionFields } from "./transcription.ts";

/** The first frame; then the audio in binary frames, then `{"type":"finish"}`. */
export const realtimeStart = transcriptionFields.omit({ dry_run: true }).extend({
  type: z.literal("start"),
  mode: z.literal("realtime").describe("What a socket is anyway; may be left out.").optional(),
  stream: z.literal(true).describe("What a socket is anyway; may be left out.").optional(),
  encoding: z
    .enum(["pcm_s16le", "webm_opus"])
    .describe("Bare 16-bit samples of one channel, or what a browser's recorder gives."),
  sample_rate: z.literal(16_000).describe("Of `pcm_s16le`; there is no other.").optional(),
});
export type RealtimeStart = z.infer<typeof realtimeStart>;

export const realtimeToken = z.strictObject({
  object: z.literal("realtime_token"),
  token: z
    .string()
    .describe("Opens one connection, as the subprotocol `patchbay.token.<token>`, or as it is, beside `patchbay.v1`."),
  expires_at: z.string().describe("RFC 3339, UTC; 60 s from now."),
});
export type RealtimeToken = z.infer<typeof realtimeToken>;

export const getRealtimeContract: EndpointContract = {
  method: "GET",
  path: "/v1/transcription/realtime",
  operationId: "openRealtimeTranscription",
  summary: "Turn live audio into text over a WebSocket",
  description:
    'A WebSocket. The key is sent in `Authorization`, or a token in `Sec-WebSocket-Protocol: patchbay.v1, patchbay.token.<token>`; never in the URL. The first text frame is `{"type":"start","encoding":"pcm_s16le","sample_rate":16000}` with any fields of `POST /v1/transcription` but `dry_run` and the audio (`mode` and `stream` may say `realtime` and `true`, which they are); binary frames of at most 65,536 bytes are audio; `{"type":"finish"}` asks for the rest. The server sends `{"event","data"}` with the events of a streamed transcription and closes with 1000, 1008 (the caller\'s doing, its budget included) or 1011, after one `error` event.',
  auth: "key",
  scope: "transcribe",
  isRouted: true,
  responses: { 101: { description: "The WebSocket.", content: {} } },
  errors: ["RATE_LIMITED", "CONCURRENCY_LIMITED", "OVERLOADED", "SHUTTING_DOWN"],
};

export const postRealtimeTokenContract: EndpointContract = {
  method: "POST",
  path: "/v1/transcription/realtime-token",
  operationId: "createRealtimeToken",
  summary: "A token that opens one live transcription",
  description: "For browsers, which must not hold a key: it stands for the key that asks, once, for 60 s.",
  auth: "key",
  scope: "transcribe",
  responses: { 200: { description: "The token.", content: { "application/json": realtimeToken } } },
  errors: ["RATE_LIMITED", "CONCURRENCY_LIMITED"],
};
