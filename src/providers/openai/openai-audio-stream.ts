// Streams the OpenAI audio protocol: the events of `stream=true` (platform.openai.com, checked 2026-11-20). Its end is assembled into the body of a buffered
// reply, so that one parser reads both.
import { z } from "zod";
import { ProviderError, type StreamingIo } from "../io.ts";
import { audioRequest } from "./openai-audio.ts";
import type { ProviderSegment, SpeechAudio, SpeechEvent, SpeechPlan } from "../provider.ts";
import { readEvents } from "../wire/read-events.ts";
import { eventBody, incompleteReplyKind } from "../wire/read-reply.ts";
import { readFraming, refuseStatus } from "../wire/stream-framing.ts";

const delta = z.object({ type: z.literal("transcript.text.delta"), delta: z.string() });
const segment = z.object({
  type: z.literal("transcript.text.segment"),
  text: z.string(),
  start: z.number(),
  end: z.number(),
  speaker: z.string().nullish(),
});
const done = z.object({ type: z.literal("transcript.text.done"), text: z.string() });
/** Events of other types are ignored, as the provider may add some. */
const eventSchema = z.discriminatedUnion("type", [delta, segment, done.loose()]);

export async function* streamAudio(plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo): AsyncGenerator<SpeechEvent> {
  const request = audioRequest(plan, audio, io);
  const reply = await io.open({ ...request, headers: { ...request.headers, accept: "text/event-stream" } });
  await refuseStatus(reply, io.credential);
  const framed = await readFraming(reply, io.credential);
  // A reply that is not a stream does not deliver the requested feature.
  if (framed.framing === "json") throw new ProviderError("bad_reply", { status: reply.status, reason: "no_events" });
  const segments: z.infer<typeof segment>[] = [];
  let end: object | null = null;
  for await (const { messages, broken } of readEvents(framed.stream)) {
    for (const { data } of messages) {
      if (data === "[DONE]") continue;
      const parsed = eventSchema.safeParse(eventBody(data, io.credential, broken)).data;
      if (parsed?.type === "transcript.text.delta" && parsed.delta !== "") yield { type: "text", text: parsed.delta };
      if (parsed !== undefined && parsed.type !== "transcript.text.delta") await io.retain(data.length);
      if (parsed?.type === "transcript.text.segment") {
        segments.push(parsed);
        yield { type: "segment", segment: segmentOf(parsed) };
      }
      if (parsed?.type === "transcript.text.done") end = parsed;
    }
  }
  // A text without its end is incomplete.
  if (end === null) throw new ProviderError(incompleteReplyKind(reply), { reason: "no_finish" });
  const body = segments.length === 0 ? end : { ...end, segments };
  yield { type: "end", raw: { body, headers: reply.headers } };
}

function segmentOf({ text, start, end, speaker }: z.infer<typeof segment>): ProviderSegment {
  return { text: text.trim(), start, end, confidence: null, speaker: speaker ?? null, channel: null };
}
