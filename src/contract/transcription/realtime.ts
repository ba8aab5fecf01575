// Schemas and endpoints of live transcription: the frames of the WebSocket [realtime.events], and the token that opens one [realtime.token-single-use].
import { z } from "zod";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { transcriptionFields } from "./transcription-fields.ts";

/** The first frame. Binary frames with audio follow, then `{"type":"finish"}`. */
export const realtimeStart = transcriptionFields.omit({ dry_run: true }).extend({
  type: z.literal("start"),
  mode: z.literal("realtime").describe("Implied by the socket; optional.").optional(),
  stream: z.literal(true).describe("Implied by the socket; optional.").optional(),
  encoding: z
    .enum(["pcm_s16le", "webm_opus"])
    .describe("Raw 16-bit samples of one channel, or the output of a browser's recorder."),
  sample_rate: z.literal(16_000).describe("For `pcm_s16le`; the only supported value.").optional(),
});
export type RealtimeStart = z.infer<typeof realtimeStart>;

export const realtimeToken = z.strictObject({
  object: z.literal("realtime_token"),
  token: z
    .string()
    .describe(
      "Opens one connection: send it as the subprotocol `patchbay.token.<token>` next to `patchbay.v1`, or plain.",
    ),
  expires_at: z.string().describe("RFC 3339, UTC; 60 s from now."),
});
export type RealtimeToken = z.infer<typeof realtimeToken>;

export const getRealtimeContract: EndpointContract = {
  method: "GET",
  path: "/v1/transcription/realtime",
  operationId: "openRealtimeTranscription",
  summary: "Transcribe live audio over a WebSocket",
  description:
    'A WebSocket. The key is sent in `Authorization`, or a token in `Sec-WebSocket-Protocol: patchbay.v1, patchbay.token.<token>`; never in the URL. The first text frame is `{"type":"start","encoding":"pcm_s16le","sample_rate":16000}` with any fields of `POST /v1/transcription` except `dry_run` and the audio (`mode` and `stream` are optional; their only values are `realtime` and `true`). Binary frames of at most 65,536 bytes contain audio. `{"type":"finish"}` requests the remaining transcript. The server sends `{"event","data"}` with the events of a streamed transcription and closes with 1000, 1008 (caused by the caller, including its budget) or 1011, after one `error` event.',
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
  summary: "Create a token for one live transcription",
  description: "For browsers, which must not hold a key: it represents the calling key once, for 60 s.",
  auth: "key",
  scope: "transcribe",
  responses: { 200: { description: "The token.", content: { "application/json": realtimeToken } } },
  errors: ["RATE_LIMITED", "CONCURRENCY_LIMITED"],
};
