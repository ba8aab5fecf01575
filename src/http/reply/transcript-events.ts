// Converts the parts of a transcript to server-sent events [transcription.stream].
import type { TranscriptStreamEvent } from "../../contract/transcription/transcription-envelope.ts";
import type { TranscriptPart } from "../../gateway/transcription/stream-transcription.ts";
import { type ErrorReplyContext, toErrorBody } from "./error-reply.ts";
import type { ServerEvent } from "./sse.ts";

type Errors = Omit<ErrorReplyContext, "accept">;
export type WordTranscript = (parts: AsyncIterable<TranscriptPart>, errors: Errors) => AsyncIterable<ServerEvent>;

export async function* transcriptEvents(
  parts: AsyncIterable<TranscriptPart>,
  errors: Errors,
): AsyncGenerator<TranscriptStreamEvent> {
  for await (const part of parts) {
    switch (part.kind) {
      case "text":
        yield { event: "transcript.delta", data: { text: part.text } };
        break;
      case "segment":
        yield { event: "transcript.segment", data: { segment: part.segment } };
        break;
      case "completed":
        yield { event: "transcript.completed", data: { envelope: part.envelope } };
        break;
      case "error":
        yield { event: "error", data: toErrorBody(part.error, errors) };
        break;
    }
  }
}
