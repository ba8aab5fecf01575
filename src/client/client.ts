// The client of a gateway, published as `patchbay-gateway/client`: for Node.js, Bun, Deno, browsers and workers, without dependencies.
import type { KeyDescription, LimitsReport } from "../contract/account.ts";
import type { ChatAnswer } from "../contract/chat/chat-answer.ts";
import type { RealtimeToken } from "../contract/transcription/realtime.ts";
import type { RequestRecordView } from "../contract/requests.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import type { UsageReport } from "../contract/usage.ts";
import type { AnswerPromise } from "./answer-promise.ts";
import type { AnswerStream } from "./answer-stream.ts";
import { type AudioSource, audioBody } from "./audio-body.ts";
import { ask, jsonBody, callBilled, queryOf, stream } from "./caller.ts";
import {
  type CallOptions,
  type ClientConfiguration,
  configurationOf,
  type PaidCallOptions,
  type PatchbayOptions,
} from "./configuration.ts";
import { Jobs } from "./jobs.ts";
import type {
  ChatEvent,
  ChatOptions,
  DryRun,
  TranscriptEvent,
  TranscriptionOptions,
  TranslationOptions,
  UsageOptions,
} from "./types.ts";

export type { AnswerPromise } from "./answer-promise.ts";
export type { AnswerStream } from "./answer-stream.ts";
export type { AudioSource } from "./audio-body.ts";
export type { ClientReply } from "./call.ts";
export type { CallOptions, PaidCallOptions, PatchbayOptions } from "./configuration.ts";
export { type ClientErrorCode, PatchbayConnectionError, PatchbayError, type PatchbayErrorCode } from "./errors.ts";
export type { Jobs, JobWaitOptions } from "./jobs.ts";
export type * from "./types.ts";
export type { ChatAnswer } from "../contract/chat/chat-answer.ts";
export type { ChatMessage } from "../contract/chat/chat-parts.ts";
export type { Job, JobList, SubmittedJob } from "../contract/jobs.ts";
export type {
  RoutingDecision,
  Segment,
  TranscriptionEnvelope,
  Warning,
  Word,
} from "../contract/transcription/transcription-envelope.ts";

const TRANSCRIPTION = "/v1/transcription";
const TRANSLATION = "/v1/translation";
const CHAT = "/v1/chat";

export class Patchbay {
  /** Durable transcription of long recordings. */
  readonly jobs: Jobs;
  readonly #configuration: ClientConfiguration;

  constructor(options: PatchbayOptions = {}) {
    this.#configuration = configurationOf(options);
    this.jobs = new Jobs(this.#configuration);
  }

  /** Transcribes audio. */
  transcribe(
    audio: AudioSource,
    options: TranscriptionOptions & DryRun,
    call?: PaidCallOptions,
  ): AnswerPromise<RoutingDecision>;
  transcribe(
    audio: AudioSource,
    options?: TranscriptionOptions,
    call?: PaidCallOptions,
  ): AnswerPromise<TranscriptionEnvelope>;
  transcribe(audio: AudioSource, options: TranscriptionOptions = {}, call: PaidCallOptions = {}) {
    return callBilled<TranscriptionEnvelope | RoutingDecision>(
      this.#configuration,
      TRANSCRIPTION,
      () => audioBody(audio, options),
      call,
    );
  }

  /** Transcribes audio and yields text as it is recognised. Uses streaming models only. */
  transcribeStream(
    audio: AudioSource,
    options: TranscriptionOptions = {},
    call: CallOptions = {},
  ): AnswerStream<TranscriptEvent> {
    const makeBody = () => audioBody(audio, { ...options, stream: true });
    return stream(this.#configuration, TRANSCRIPTION, makeBody, "transcript.completed", call);
  }

  /** Transcribes speech and translates it, into English unless `to_language` is set. */
  translate(
    audio: AudioSource,
    options: TranslationOptions & DryRun,
    call?: PaidCallOptions,
  ): AnswerPromise<RoutingDecision>;
  translate(
    audio: AudioSource,
    options?: TranslationOptions,
    call?: PaidCallOptions,
  ): AnswerPromise<TranscriptionEnvelope>;
  translate(audio: AudioSource, options: TranslationOptions = {}, call: PaidCallOptions = {}) {
    return callBilled<TranscriptionEnvelope | RoutingDecision>(
      this.#configuration,
      TRANSLATION,
      () => audioBody(audio, options),
      call,
    );
  }

  /** Answers a conversation. */
  chat(request: ChatOptions & DryRun, call?: PaidCallOptions): AnswerPromise<RoutingDecision>;
  chat(request: ChatOptions, call?: PaidCallOptions): AnswerPromise<ChatAnswer>;
  chat(request: ChatOptions, call: PaidCallOptions = {}) {
    return callBilled<ChatAnswer | RoutingDecision>(this.#configuration, CHAT, () => jsonBody(request), call);
  }

  /** Answers a conversation and yields text as it is generated. */
  chatStream(request: ChatOptions, call: CallOptions = {}): AnswerStream<ChatEvent> {
    return stream(this.#configuration, CHAT, () => jsonBody({ ...request, stream: true }), "chat.completed", call);
  }

  /** Usage of the app and its cost. */
  usage({ from, to, group_by: groups }: UsageOptions = {}, options: CallOptions = {}): AnswerPromise<UsageReport> {
    return ask(this.#configuration, {
      path: `/v1/usage${queryOf({ from, to, group_by: groups?.join(",") })}`,
      options,
    });
  }

  /** Every limit in force, and what remains of the key's quotas and budgets. */
  limits(options: CallOptions = {}): AnswerPromise<LimitsReport> {
    return ask(this.#configuration, { path: "/v1/melimits", options });
  }

  /** Describes this key and what it can request. */
  me(options: CallOptions = {}): AnswerPromise<KeyDescription> {
    return ask(this.#configuration, { path: "/v1/me", options });
  }

  /** The routing and cost of a request. Readable within five seconds of its answer. */
  request(requestId: string, options: CallOptions = {}): AnswerPromise<RequestRecordView> {
    return ask(this.#configuration, { path: `/v1/requests/${encodeURIComponent(requestId)}`, options });
  }

  /** A single-use token for a browser, which must not hold the key: opens one live transcription within 60 s. */
  realtimeToken(options: CallOptions = {}): AnswerPromise<RealtimeToken> {
    return ask(this.#configuration, { method: "POST", path: "/v1/transcription/realtime-token", options });
  }
}
