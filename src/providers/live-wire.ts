// A transcript over a WebSocket: audio goes out while text comes in [transcription.stream-socket]. What the socket protocols have in
// common: no end is a failure, an answer that is no JSON is one, and what the audio's source throws ends it as it is.
import { ProviderError, type SocketRequest, type StreamingIo, type WireMessage, type WireSocket } from "./io.ts";
import type { RawTranscript, SpeechEvent } from "./provider.ts";
import { eventFailure, parsedReply, refuseHeavy } from "./read-reply.ts";

/** One protocol's way of reading its messages; it remembers what it has seen of one transcript. */
export interface LiveReader {
  /** What a message that is an error means, where the protocol has a table of its own for it. */
  failure?(message: unknown): ProviderError | null;
  /** May throw a `ProviderError`. */
  read(message: unknown): readonly Exclude<SpeechEvent, { type: "end" }>[];
  /** What the answer would have been in one piece; null as long as there is no regular end. */
  end(): unknown;
  /** Null where the code says nothing that a broken connection would not. */
  closeFailure(close: Extract<WireMessage, { kind: "close" }>): ProviderError | null;
}

export interface LiveExchange {
  readonly request: SocketRequest;
  /** Read when the socket is open; its last frames ask for the end. */
  readonly frames: () => AsyncIterable<string | Uint8Array>;
  readonly reader: LiveReader;
}

export async function* streamOverSocket(
  { request, frames, reader }: LiveExchange,
  io: StreamingIo,
): AsyncGenerator<SpeechEvent> {
  const socket = await io.connect(request);
  const feeding = feed(socket, frames());
  try {
    while (reader.end() === null) {
      const message = await feeding.orBroken(socket.next());
      if (message.kind === "close") throw reader.closeFailure(message) ?? closed(message);
      const body = parsedReply({ text: message.text });
      if (body === undefined) refuseHeavy(message.text);
      if (body === undefined) throw new ProviderError("bad_reply", { reason: "not_json" });
      const failure = reader.failure?.(body) ?? eventFailure(body, io.credential);
      if (failure !== null) throw failure;
      const events = reader.read(body);
      // The rest is a draft, which the next message replaces.
      if (events.some(({ type }) => type === "segment")) await io.retain(message.text.length);
      yield* events;
      // What the other side did not wait for has no place in its transcript.
      if (reader.end() !== null && !feeding.hasAsked()) throw new ProviderError("unknown", { reason: "early_end" });
    }
    const raw: RawTranscript = { body: reader.end(), headers: socket.headers };
    yield { type: "end", raw };
  } finally {
    feeding.stop();
    socket.close();
  }
}

interface Feeding {
  /** What comes first: the work's own end, or the failure of the audio's source. */
  orBroken<T>(work: Promise<T>): Promise<T>;
  /** All of the audio went out, and the end was asked for. */
  hasAsked(): boolean;
  stop(): void;
}

function feed(socket: WireSocket, frames: AsyncIterable<string | Uint8Array>): Feeding {
  let isStopped = false;
  let hasAsked = false;
  const broken = Promise.withResolvers<never>();
  // Told to whoever waits; until then nobody listens.
  broken.promise.catch(() => undefined);
  const run = async (): Promise<void> => {
    for await (const frame of frames) {
      if (isStopped) return;
      // Audio is binary. The answer may be here before it is known that the question left.
      if (typeof frame === "string") hasAsked = true;
      // What becomes of the connection is told by `next`, which knows what the provider said before.
      if (!(await sent(socket, frame))) return;
    }
    if (!isStopped) socket.awaitEnd();
  };
  run().catch(broken.reject);
  return {
    orBroken: (work) => {
      work.catch(() => undefined);
      return Promise.race([work, broken.promise]);
    },
    hasAsked: () => hasAsked,
    stop: () => {
      isStopped = true;
    },
  };
}

async function sent(socket: WireSocket, frame: string | Uint8Array): Promise<boolean> {
  try {
    await socket.send(frame);
    return true;
  } catch (error) {
    if (error instanceof ProviderError) return false;
    throw error;
  }
}

/** Without its end a transcript has a hole where the rest would be; before any audio nothing was done. */
function closed({ code, dispatched }: Extract<WireMessage, { kind: "close" }>): ProviderError {
  return new ProviderError(dispatched ? "unknown" : "server_error", { reason: `close_${code}` });
}
