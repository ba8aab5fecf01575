// Translates speech by chat if no target translates: a chat target translates the transcript's text. Both calls are reserved before and settled with the
// answer: if one fails, neither is charged, and the speech is not transcribed again [translation.chat-two-attempts] [translation.chat-whole].
import { GatewayError } from "../../contract/errors.ts";
import type { Warning } from "../../contract/transcription.ts";
import type { Settlement } from "../../metering/ledger-entries.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import { ProviderError } from "../../providers/io.ts";
import { type ChatPlanner, chatJudge } from "../../routing/decide-chat-route.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import type { Target } from "../../routing/types.ts";
import { type AudioDecision, type ByChat, decideAudio } from "../../routing/decide-translation.ts";
import type { Requirements } from "../../routing/required-features.ts";
import {
  type AudioCall,
  contextOf,
  type MeasuredFacts,
  questionOf,
  recordDecision,
  type RoutedCall,
} from "../transcription/audio-call.ts";
import type { AttemptAllowance } from "../calls/attempt-allowance.ts";
import { attemptWarnings } from "../chat/chat-answer.ts";
import { type ChatContent } from "../chat/chat-content.ts";
import type { AttemptLedger } from "../chat/attempt-ledger.ts";
import type { ChatCaller, DecidedChat } from "../chat/chat-call.ts";
import { chatQuote } from "../chat/chat-quote.ts";
import { chatPlanner, type PlanServices } from "../chat/plan-chat.ts";
import type { GatewayReply } from "../reply.ts";
import { type UnavailabilityServices, unavailabilityFor } from "../calls/resolve-account.ts";
import { runChat, type ServedChat } from "../chat/run-chat.ts";
import type { ServedOutcome } from "../calls/candidate-run.ts";
import type { GatewayServices } from "../services.ts";
import type { SlotJournal } from "../idempotency/slot-journal.ts";
import { translationRequest } from "./translation-prompt.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";

/** The content of the answer, whether one call or two produced it. */
export interface MadeTranscript {
  readonly wanted: Requirements;
  readonly served: ServedOutcome;
  readonly warnings: readonly Warning[];
  readonly isSimulated: boolean;
  /** Charges all calls and stores the answer under the idempotency key, in one transaction. */
  readonly finish: (reply: GatewayReply) => Promise<unknown>;
}

export const TRANSLATED_BY_CHAT: Warning = {
  code: "TRANSLATED_BY_CHAT",
  message: "No target of the route translates this speech: a chat model translated its transcript.",
  param: null,
  details: null,
};

export function decideWithChat(
  services: UnavailabilityServices & PlanServices & Pick<GatewayServices, "decoder">,
  call: RoutedCall,
  facts: MeasuredFacts,
): AudioDecision {
  const context = contextOf(services, call);
  const question = questionOf(services, call, facts);
  // Evaluated lazily, because a transcription, or a translation by the target itself, needs no chat plan.
  const plan: ChatPlanner = (target, settings) =>
    chatPlanner(services, expectedRequest(call, facts.durationSeconds))(target, settings);
  const audioDecision = decideAudio(context, question, plan, unavailabilityFor(services, call.principal));
  const { decision, byChat } = audioDecision;
  const considered = [...decision.considered, ...(byChat?.considered ?? [])];
  recordDecision(call, context, question, { ...decision, considered });
  return audioDecision;
}

/** Fast speech: about 200 words a minute. */
const CHARACTERS_PER_SECOND = 20;

/** The request before the transcript exists. The verdict on a target does not depend on the text. */
function expectedRequest({ fields }: Pick<RoutedCall, "fields">, audioSeconds: number): ChatRequest {
  return translationRequest("x".repeat(Math.ceil(audioSeconds * CHARACTERS_PER_SECOND)), targetLanguage(fields));
}

/** The expected chat with its first target. */
export interface ExpectedChat {
  readonly target: Target;
  readonly request: ChatRequest;
}

export function expectedChat(call: RoutedCall, { candidates }: ByChat, audioSeconds: number): ExpectedChat | null {
  const [first] = candidates;
  return first === undefined ? null : { target: first.target, request: expectedRequest(call, audioSeconds) };
}

/** What the translation would reserve. Null: unknown. */
export function estimateTranslation(
  services: Pick<GatewayServices, "prices">,
  call: RoutedCall,
  byChat: ByChat,
  audioSeconds: number,
): bigint | null {
  const expected = expectedChat(call, byChat, audioSeconds);
  if (expected === null) return null;
  return chatQuote(services, call.principal, expected.target, expected.request).listNanoUsd;
}

function targetLanguage({ to_language: language }: AudioCall["fields"]): string {
  return language ?? "en";
}

interface ToTranslate {
  readonly decision: Extract<RouteDecision, { ok: true }>;
  readonly byChat: ByChat;
  /** Reserved, and not settled yet. */
  readonly transcribed: ServedOutcome;
  readonly slot: ClaimedSlot | null;
  readonly journal: SlotJournal;
  /** What the transcription has left of the limit. */
  readonly allowance: AttemptAllowance;
}

export async function translateByChat(
  services: GatewayServices,
  call: AudioCall & ChatCaller,
  input: ToTranslate,
): Promise<MadeTranscript> {
  const { decision, transcribed, journal } = input;
  const text = transcribed.transcript.text.trim();
  const wanted = { ...decision.wanted, task: "translate" } as const;
  const isTranscriptSimulated = transcribed.billing.billingClass === "simulated";
  // Without speech there is no text to translate, and a model must not invent one.
  if (text === "")
    return {
      wanted,
      served: withText(transcribed, ""),
      warnings: [],
      isSimulated: isTranscriptSimulated,
      finish: (reply) => journal.finish(transcribed.settlement, reply),
    };
  const chat = await translate(services, call, input, translationRequest(text, targetLanguage(call.fields)));
  const warnings = attemptWarnings(chat.attempt, chat.usage);
  return {
    wanted,
    served: withText(transcribed, translationIn(chat.content)),
    warnings: [
      TRANSLATED_BY_CHAT,
      ...warnings.filter(({ code }) => !isTranscriptSimulated || code !== "SIMULATED_PROVIDER"),
    ],
    isSimulated: isTranscriptSimulated || chat.attempt.billing.billingClass === "simulated",
    finish: async (reply) => chat.settle(reply),
  };
}

/** The segments and words of the transcript are in the source language and not part of a translation. */
function withText(served: ServedOutcome, text: string): ServedOutcome {
  return { ...served, transcript: { ...served.transcript, text, segments: [], words: [] } };
}

async function translate(
  services: GatewayServices,
  call: AudioCall & ChatCaller,
  { decision, byChat, transcribed, slot, journal, allowance }: ToTranslate,
  request: ChatRequest,
): Promise<ServedChat> {
  try {
    return await runChat(services, call, chatDecision(services, decision, byChat, request), slot, {
      allowance,
      ledger: ledgerForBoth(services, transcribed.settlement, journal),
      judge: (content) => void translationIn(content),
    });
  } catch (error) {
    // After an internal error the outcome of the chat is unknown: the transcript's reservation is left to the sweeper.
    if (error instanceof GatewayError) {
      const isAbandoned = slot === null && call.clientGone.aborted;
      await journal.settle(isAbandoned ? transcribed.settlement : undelivered(transcribed.settlement));
    }
    throw error;
  }
}

function chatDecision(
  services: GatewayServices,
  { route, purpose }: ToTranslate["decision"],
  { considered, candidates }: ByChat,
  request: ChatRequest,
): DecidedChat {
  const judge = chatJudge(chatPlanner(services, request));
  return {
    ok: true,
    route,
    purpose,
    warnings: [],
    considered,
    wanted: request,
    candidates: candidates.map((each) => ({ ...each, verdict: judge(each.target, route, each.settings) })),
  };
}

/** Settles the transcript together with the chat that serves. A chat that fails is settled alone, because the next one may serve. */
function ledgerForBoth({ ledger }: GatewayServices, transcript: Settlement, journal: SlotJournal): AttemptLedger {
  return {
    reserve: (reservation) => ledger.reserve(reservation),
    settle: async (chat) => {
      if (chat.outcome !== "succeeded") return ledger.settle(chat);
      const [, settled] = await journal.settleTogether([transcript, chat]);
      if (settled === undefined) throw new Error("two settlements without two answers");
      return settled;
    },
  };
}

/** The transcript was made and not delivered: the operator bears its cost [metering.charge-delivered]. */
function undelivered(settlement: Settlement): Settlement {
  return { ...settlement, outcome: "failed:not_delivered", billableAudioMs: 0, chargeNanoUsd: 0n };
}

/** The whole translation, or a failure of the target if it was cut off, withheld or empty. */
function translationIn({ text, finishReason }: ChatContent): string {
  const translation = text?.trim() ?? "";
  if (finishReason === "stop" && translation !== "") return translation;
  throw new ProviderError("feature_dropped", { reason: "translation" });
}
