// Turns an envelope into the response that `Accept` selects: the JSON envelope, or a bare body (text, SRT, WebVTT) with the envelope's facts in headers
// [captions.bare-body]. Also marks simulated answers. Pure.
import type { ResponseFormat } from "../../contract/transcription/transcription-fields.ts";
import type { TranscriptionEnvelope } from "../../contract/transcription/transcription-envelope.ts";
import { type GatewayReply, textReply, transcriptReply } from "../reply.ts";
import { routingFacts } from "../routing-facts.ts";

/** The form of the answer, selected by `Accept`: the JSON envelope, or the bare body of `content`. */
export const DELIVERIES = ["json", "text", "srt", "vtt"] as const;

export type Delivery = (typeof DELIVERIES)[number];

export const DELIVERY_TYPES = {
  json: "application/json",
  text: "text/plain",
  srt: "application/x-subrip",
  vtt: "text/vtt",
} as const satisfies Record<Delivery, string>;

/** A bare body must match its media type; `text/plain` fits every content. */
export function deliverable(delivery: Delivery, format: ResponseFormat): boolean {
  return delivery === "json" || delivery === "text" || delivery === format;
}

export async function deliver(
  envelope: TranscriptionEnvelope,
  delivery: Delivery,
  present: (envelope: TranscriptionEnvelope) => unknown,
  simulated: boolean,
): Promise<GatewayReply> {
  const mark = simulatedMark(simulated);
  if (delivery !== "json")
    return textReply(DELIVERY_TYPES[delivery], envelope.content, { ...mark, ...factsOf(envelope) });
  const body = present(envelope);
  return transcriptReply(body, { ...mark, ...(body === envelope ? {} : factsOf(envelope)) });
}

const SIMULATED_MARK = { "x-svc-simulated": "true" };

/** For a stored envelope: its own warnings contain the mark. */
export function markOf(envelope: TranscriptionEnvelope): Record<string, string> {
  return simulatedMark(envelope.warnings.some(({ code }) => code === "SIMULATED_PROVIDER"));
}

export function simulatedMark(isSimulated: boolean): Record<string, string> {
  return isSimulated ? SIMULATED_MARK : {};
}

/** The facts that a bare body has no field for. */
export function factsOf(envelope: TranscriptionEnvelope): Record<string, string> {
  return { ...routingFacts(envelope), "x-svc-audio-seconds": String(envelope.usage.audio_seconds) };
}
