// A provider at the other end of a WebSocket on loopback, played by a script, and what an adapter makes of it.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { type WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import { assemblyai } from "../../../src/providers/assemblyai/assemblyai.ts";
import { elevenlabs } from "../../../src/providers/elevenlabs/elevenlabs.ts";
import { deepgram } from "../../../src/providers/deepgram/deepgram.ts";
import { ProviderError } from "../../../src/providers/io.ts";
import { openai } from "../../../src/providers/openai/openai.ts";
import type { SpeechAudio, SpeechEvent, SpeechProvider, SpeechRequest } from "../../../src/providers/provider.ts";
import { assertSaysNothing, PROVIDER_TEXT } from "./failure-suite.ts";
import { audioFixture, type GoldenModel, requestFor } from "./fixtures.ts";
import { ASSEMBLYAI_STREAMING_GOLDEN } from "../golden/assemblyai.ts";
import { DEEPGRAM_GOLDEN } from "../golden/deepgram.ts";
import { OPENAI_LIVE_GOLDEN } from "../golden/openai.ts";
import { ELEVENLABS_STREAMING_GOLDEN } from "../golden/elevenlabs.ts";
import { targetOf } from "./subject.ts";
import { CREDENTIAL, ioFor } from "./wire-suite.ts";

export interface Subject {
  readonly provider: SpeechProvider;
  readonly golden: GoldenModel | undefined;
  readonly path: string;
  readonly authorization: string;
  /** The text frame that asks for the end. */
  readonly finish: object;
  /** The name of the field that says what a message is, unless `type`. */
  readonly typeField?: string;
  /** A whole conversation's messages. */
  readonly messages: readonly object[];
  /** Bytes that it sends of `AUDIO`. */
  readonly audioBytes: number;
  /** Its answers have no times, and so no segments. */
  readonly isPlainText?: true;
  readonly refusal: object;
}

export const DEEPGRAM: Subject = {
  provider: deepgram,
  golden: DEEPGRAM_GOLDEN[0],
  path: "/v1/listen",
  authorization: `Token ${CREDENTIAL}`,
  finish: { type: "CloseStream" },
  messages: [
    {
      type: "Results",
      channel_index: [0, 1],
      start: 0,
      duration: 1,
      is_final: true,
      channel: { alternatives: [{ transcript: "Hello.", words: [{ word: "hello", start: 0.1, end: 0.4 }] }] },
      metadata: { request_id: "r-1", model_info: { name: "general-nova-3", arch: "nova-3" } },
    },
    { type: "Metadata", request_id: "r-1", duration: 1, channels: 1 },
  ],
  audioBytes: 32_000,
  refusal: { err_code: "some_code", err_msg: `${PROVIDER_TEXT} ${CREDENTIAL}` },
};
export const turn = (more: object) => ({
  type: "Turn",
  turn_order: 0,
  turn_is_formatted: true,
  end_of_turn: true,
  transcript: "Hello.",
  words: [{ text: "Hello.", start: 100, end: 400, confidence: 0.9, word_is_final: true }],
  ...more,
});
export const BEGIN = { type: "Begin", id: "s-1", expires_at: 1 };
export const TERMINATION = { type: "Termination", audio_duration_seconds: 1, session_duration_seconds: 1 };
export const ASSEMBLYAI: Subject = {
  provider: assemblyai,
  golden: ASSEMBLYAI_STREAMING_GOLDEN.find(({ model }) => model === "universal-streaming-english"),
  path: "/v3/ws",
  authorization: CREDENTIAL,
  finish: { type: "Terminate" },
  messages: [BEGIN, turn({}), TERMINATION],
  audioBytes: 32_000,
  refusal: { error: `${PROVIDER_TEXT} ${CREDENTIAL}` },
};

const TRANSCRIPTION = "conversation.item.input_audio_transcription";
export const committedItem = (item: string) => ({ type: "input_audio_buffer.committed", event_id: "e", item_id: item });
export const delta = (item: string, text: string) => ({
  type: `${TRANSCRIPTION}.delta`,
  event_id: "e",
  item_id: item,
  content_index: 0,
  delta: text,
});
export const completed = (item: string, transcript: string) => ({
  type: `${TRANSCRIPTION}.completed`,
  event_id: "e",
  item_id: item,
  content_index: 0,
  transcript,
  usage: { type: "duration", seconds: 1 },
});
export const OPENAI_LIVE: Subject = {
  provider: openai,
  golden: OPENAI_LIVE_GOLDEN[0],
  path: "/realtime",
  authorization: `Bearer ${CREDENTIAL}`,
  finish: { type: "input_audio_buffer.commit" },
  messages: [delta("i-1", "Hello."), committedItem("i-1"), completed("i-1", "Hello.")],
  // Every two samples become three.
  audioBytes: 48_000,
  isPlainText: true,
  refusal: { error: { message: `${PROVIDER_TEXT} ${CREDENTIAL}`, code: "some_code" } },
};

export const COMMIT = { message_type: "input_audio_chunk", audio_base_64: "", commit: true, sample_rate: 16_000 };
export const SESSION_STARTED = {
  message_type: "session_started",
  session_id: "s-1",
  config: { sample_rate: 16_000, audio_format: "pcm_16000", language_code: null, model_id: "scribe_v2_realtime" },
};
export const committedText = (text: string) => ({ message_type: "committed_transcript", text });
export const withTimes = (text: string, words: readonly object[], more: object = {}) => ({
  message_type: "committed_transcript_with_timestamps",
  text,
  words,
  ...more,
});
export const spoken = (text: string, start: number, end: number) => ({ text, start, end, type: "word", logprob: 0 });
export const ELEVENLABS: Subject = {
  provider: elevenlabs,
  golden: ELEVENLABS_STREAMING_GOLDEN[0],
  path: "/v1/speech-to-text/realtime",
  authorization: CREDENTIAL,
  finish: COMMIT,
  typeField: "message_type",
  messages: [
    { ...SESSION_STARTED, config: {} },
    committedText("Hello."),
    withTimes("Hello.", [spoken("Hello.", 0.1, 0.4)]),
  ],
  audioBytes: 32_000,
  refusal: { detail: { status: "some_code", message: `${PROVIDER_TEXT} ${CREDENTIAL}` } },
};

/** A second of samples. */
export const AUDIO: SpeechAudio = audioFixture({
  durationSeconds: 1,
  samplesPerSecond: 16_000,
  open: async function* () {
    for (let at = 0; at < 32_000; at += 3_200) yield new Uint8Array(3_200);
  },
});

export interface Script {
  /** In the place of the upgrade. */
  readonly refuse?: (socket: Duplex, request: IncomingMessage) => void;
  readonly onOpen?: (client: WebSocket) => void;
  /** In the place of the acceptance of a configuration. */
  readonly onSession?: (client: WebSocket) => void;
  readonly onAudio?: (client: WebSocket) => void;
  readonly onFinish?: (client: WebSocket, message: unknown) => void;
}

interface Heard {
  readonly url: string;
  readonly authorization: string | undefined;
  bytes: number;
  /** Configurations of the session. */
  readonly sessions: unknown[];
}

/** OpenAI's configuration. */
const sessionUpdate = z.object({ type: z.literal("session.update"), session: z.unknown() });
/** The frames of OpenAI and ElevenLabs are text. */
const audioFrame = z.union([
  z.object({ type: z.literal("input_audio_buffer.append"), audio: z.base64() }).transform(({ audio }) => audio),
  z
    .object({ message_type: z.literal("input_audio_chunk"), audio_base_64: z.base64() })
    .transform(({ audio_base_64: audio }) => audio),
]);

export async function provider(
  t: TestContext,
  played: Script | (() => Script),
): Promise<{ readonly url: URL; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  const raw = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    raw.add(socket);
    socket.on("error", () => undefined);
    const { authorization, "xi-api-key": key } = request.headers;
    const call: Heard = {
      url: request.url ?? "",
      authorization: authorization ?? key?.toString(),
      bytes: 0,
      sessions: [],
    };
    heard.push(call);
    const script = typeof played === "function" ? played() : played;
    if (script.refuse !== undefined) return script.refuse(socket, request);
    sockets.handleUpgrade(request, socket, head, (client) => {
      script.onOpen?.(client);
      client.on("message", (data: Buffer, isBinary) => {
        const message: unknown = isBinary ? null : JSON.parse(data.toString());
        const configuration = sessionUpdate.safeParse(message).data;
        if (configuration !== undefined) {
          call.sessions.push(configuration.session);
          if (script.onSession !== undefined) return script.onSession(client);
          return say(client, [{ type: "session.updated", event_id: "e", session: { id: "s-1" } }]);
        }
        const audio = isBinary ? data : audioIn(message);
        if (audio.byteLength === 0) return script.onFinish?.(client, message);
        call.bytes += audio.byteLength;
        script.onAudio?.(client);
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    for (const socket of raw) socket.destroy();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), heard };
}

/** Empty: a message without audio. */
function audioIn(message: unknown): Buffer {
  return Buffer.from(audioFrame.safeParse(message).data ?? "", "base64");
}

export const say = (client: WebSocket, messages: readonly object[]): void => {
  for (const message of messages) client.send(JSON.stringify(message));
};

export type Options = Parameters<typeof ioFor>[2] & {
  readonly wishes?: Partial<SpeechRequest>;
  readonly audio?: SpeechAudio;
  /** Audio is not sent at its own pace. */
  readonly skipsPauses?: boolean;
};

export async function transcript(t: TestContext, { provider, golden }: Subject, url: URL, options: Options = {}) {
  assert.ok(golden && provider.stream);
  const { wishes = {}, audio = AUDIO, skipsPauses = false, ...rest } = options;
  const { speech, target } = targetOf(provider, golden);
  const request = requestFor(speech, { stream: true, ...wishes });
  const planned = provider.plan(request, target);
  assert.ok(planned.ok, JSON.stringify(planned));
  const events: SpeechEvent[] = [];
  const io = ioFor(t, url, rest);
  const paced = skipsPauses ? { ...io, pause: async () => undefined } : io;
  for await (const event of provider.stream(planned.plan, audio, paced)) events.push(event);
  const end = events.at(-1);
  assert.ok(end?.type === "end");
  return { events: events.slice(0, -1), transcript: provider.normalise(end.raw, request, target, audio) };
}

export async function failure(
  t: TestContext,
  subject: Subject,
  url: URL,
  options: Options = {},
): Promise<ProviderError> {
  const error: unknown = await transcript(t, subject, url, options).then(
    () => assert.fail("it succeeded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderError, inspect(error));
  assertSaysNothing(error);
  return error;
}

export const refusal =
  (status: number, body: string, headers: readonly string[] = []) =>
  (socket: Duplex): void => {
    const lines = [
      `HTTP/1.1 ${status} No`,
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      ...headers,
    ];
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  };
