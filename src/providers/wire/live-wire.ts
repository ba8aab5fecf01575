// Transcribes over a WebSocket, sending audio and receiving text at the same time [transcription.stream-socket]. Shared by all socket protocols: a missing end
// and invalid JSON are failures, and an error of the audio source is thrown unchanged.
import { z } from "zod";
import {
  ProviderError,
  type SocketRequest,
  type StreamingIo,
  type WireFrame,
  type WireMessage,
  type WireSocket,
  withProvider,
} from "../io.ts";
import type { RawTranscript, SpeechEvent } from "../provider.ts";
import { closeFailure } from "./provider-failure.ts";
import { eventFailure, parsedReply, refuseHeavy } from "./read-reply.ts";

/** Parses one protocol's messages. Keeps the state of one transcript. */
export interface LiveReader {
  /** Messages of another type are ignored, whatever they contain: a provider may add some at any time [providers.unknown-messages]. */
  readonly types: ReadonlySet<string>;
  /** A documented error after which the session continues: it is read like any other message. */
  isWarning?(message: unknown): boolean;
  /** Maps an error message to its failure, if the protocol has its own error codes. */
  failure?(message: unknown): ProviderError | null;
  /** Characters that are kept until the end, so that memory is reserved for them. Absent: the messages with segments. */
  keptCharacters?(message: unknown): number;
  /** May throw a `ProviderError`. */
  read(message: unknown): readonly Exclude<SpeechEvent, { type: "end" }>[];
  /** The body that a buffered reply would have had. Null until there is a regular end. */
  end(): unknown;
  /** Null: the close code means no more than a broken connection. */
  closeFailure(close: Extract<WireMessage, { kind: "close" }>): ProviderError | null;
}

export interface LiveExchange {
  readonly request: SocketRequest;
  /** Configures the session, for protocols that do not do that in the query. Sent before the first frame. */
  readonly opening?: string;
  /** Read once the socket is open. Its last frames request the end. */
  readonly frames: () => AsyncIterable<WireFrame>;
  readonly reader: LiveReader;
}

export async function* streamOverSocket(
  { request, opening, frames, reader }: LiveExchange,
  io: StreamingIo,
): AsyncGenerator<SpeechEvent> {
  const socket = await io.connect(request);
  const feeding = feed(socket, opening, frames());
  try {
    while (reader.end() === null) {
      const message = await feeding.orBroken(socket.next());
      if (message.kind === "close") {
        const provider = closeFailure(message, socket.headers, io.credential);
        throw withProvider(reader.closeFailure(message) ?? closeError(message), provider);
      }
      const body = parsedReply({ text: message.text });
      if (body === undefined) refuseHeavy(message.text);
      if (body === undefined) throw new ProviderError("bad_reply", { reason: "not_json" });
      if (isUnknown(body, reader.types)) continue;
      const isWarning = reader.isWarning?.(body) === true;
      const failure = isWarning ? null : (reader.failure?.(body) ?? eventFailure(body, io.credential));
      if (failure !== null) throw failure;
      const events = reader.read(body);
      // Other text is an interim result, which the next message replaces.
      const isResult = events.some(({ type }) => type === "segment");
      const kept = reader.keptCharacters?.(body) ?? (isResult ? message.text.length : 0);
      if (kept > 0) await io.retain(kept);
      yield* events;
      // The provider ended before all audio was sent, so its transcript is incomplete.
      if (reader.end() !== null && !feeding.hasAsked()) throw new ProviderError("unknown", { reason: "early_end" });
    }
    const raw: RawTranscript = { body: reader.end(), headers: socket.headers };
    yield { type: "end", raw };
  } finally {
    feeding.stop();
    socket.close();
  }
}

/** A message without a type may be a refusal, which has the form of a reply to a request. */
function isUnknown(message: unknown, types: ReadonlySet<string>): boolean {
  const { data } = typed.safeParse(message);
  const type = data?.message_type ?? data?.type ?? null;
  return type !== null && !types.has(type);
}

/** ElevenLabs' field has another name. */
const typed = z.object({ type: z.string().nullish().catch(null), message_type: z.string().nullish().catch(null) });

interface Feeding {
  /** Settles with the work, or rejects when the audio source fails. */
  orBroken<T>(work: Promise<T>): Promise<T>;
  /** All audio was sent and the end was requested. */
  hasAsked(): boolean;
  stop(): void;
}

function feed(socket: WireSocket, opening: string | undefined, frames: AsyncIterable<WireFrame>): Feeding {
  let isStopped = false;
  let hasAsked = false;
  const failure = Promise.withResolvers<never>();
  // Reported through `orBroken`. This handler only prevents an unhandled rejection.
  failure.promise.catch(() => undefined);
  const run = async (): Promise<void> => {
    if (opening !== undefined && !(await sendFrame(socket, opening))) return;
    for await (const frame of frames) {
      if (isStopped) return;
      // Only the request for the end has no audio. Set before the frame is sent, because the answer may arrive before `send` resolves.
      if (typeof frame === "string") hasAsked = true;
      // `next` reports what happened to the connection, after the messages that preceded it.
      if (!(await sendFrame(socket, frame))) return;
    }
    if (!isStopped) socket.awaitEnd();
  };
  run().catch(failure.reject);
  return {
    orBroken: (work) => {
      work.catch(() => undefined);
      return Promise.race([work, failure.promise]);
    },
    hasAsked: () => hasAsked,
    stop: () => {
      isStopped = true;
    },
  };
}

async function sendFrame(socket: WireSocket, frame: WireFrame): Promise<boolean> {
  try {
    await socket.send(frame);
    return true;
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}

/** A transcript without its end is incomplete. Before any audio nothing was done. */
function closeError({ code, dispatched }: Extract<WireMessage, { kind: "close" }>): ProviderError {
  return new ProviderError(dispatched ? "unknown" : "server_error", { reason: `close_${code}` });
}
