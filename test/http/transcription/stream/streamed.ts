// Reads `POST /v1/transcription` with `stream: true` as an application would, whatever kind of provider streams behind it.
import assert from "node:assert/strict";
import { createParser } from "eventsource-parser";
import {
  segment,
  type TranscriptionEnvelope,
  transcriptionEnvelope,
} from "../../../../src/contract/transcription/transcription-envelope.ts";
import { speech, type TranscriptionCall } from "../../../harness/client.ts";
import { KEY, type TestGateway } from "../../../harness/gateway.ts";

interface ReceivedEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface Streamed {
  readonly headers: Headers;
  readonly events: readonly ReceivedEvent[];
  /** Everything as it came. */
  readonly text: string;
}

interface StreamCall extends Pick<TranscriptionCall, "path" | "key" | "file" | "headers"> {
  readonly fields?: Readonly<Record<string, string>>;
  /** The caller goes when the first bytes have come. */
  readonly hangsUp?: boolean;
  /** With each piece that comes. */
  readonly onPiece?: () => void;
}

/** The file is `speech()` unless given. */
export async function streamForm(origin: string, call: StreamCall = {}): Promise<Streamed> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ stream: "true", ...call.fields })) form.append(name, value);
  form.append("file", new Blob([new Uint8Array(call.file ?? speech())]), "audio.wav");
  const gone = new AbortController();
  const response = await fetch(`${origin}${call.path ?? "/v1/transcription"}`, {
    method: "POST",
    headers: { authorization: `Bearer ${call.key ?? KEY}`, ...call.headers },
    body: form,
    signal: gone.signal,
  });
  assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/u);
  const events: ReceivedEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) =>
      events.push({ event: event ?? "", data: JSON.parse(data) as Record<string, unknown> }),
  });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      const piece = decoder.decode(bytes, { stream: true });
      text += piece;
      parser.feed(piece);
      call.onPiece?.();
      if (call.hangsUp === true) gone.abort();
    }
  } catch (error) {
    assert.ok(gone.signal.aborted, String(error));
  }
  return { headers: response.headers, events, text };
}

/** Which kinds of events came, in the order of the first of each. */
export const names = ({ events }: Streamed): readonly string[] => [...new Set(events.map(({ event }) => event))];

/** The envelope that the last event brings. */
export const completed = ({ events }: Streamed): TranscriptionEnvelope =>
  transcriptionEnvelope.parse(events.at(-1)?.data["envelope"]);

/** The pieces of the text. */
export const deltas = ({ events }: Streamed): readonly unknown[] =>
  events.filter(({ event }) => event === "transcript.delta").map(({ data }) => data["text"]);

export const segments = ({ events }: Streamed) =>
  events.filter(({ event }) => event === "transcript.segment").map(({ data }) => segment.parse(data["segment"]));

/** Of every call there was, what it came to and the milliseconds of audio it is charged for. */
export async function attempts({ database }: Pick<TestGateway, "database">) {
  const rows = await database.db
    .selectFrom("attempts")
    .select(["model", "outcome", "billable_audio_ms"])
    .orderBy("position")
    .execute();
  return rows.map(({ model, outcome, billable_audio_ms: ms }) => [model, outcome, Number(ms)] as const);
}
