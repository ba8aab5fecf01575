// A translation where no target translates: a chat target of the same route translates the transcript's text. Two calls of one request,
// each reserved before and both settled with the answer: if either fails, nothing is charged for both, and the speech is never transcribed
// again [translation.chat-two-attempts] [translation.chat-whole].
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
import type { Served } from "../calls/candidate-run.ts";
import type { GatewayServices } from "../services.ts";
import type { SlotJournal } from "../idempotency/slot-journal.ts";
import { translationRequest } from "./translation-prompt.ts";
import type { HeldSlot } from "../idempotency/with-slot.ts";

/** What the answer is made of, whoever made it. */
export interface MadeTranscript {
  readonly wanted: Requirements;
  readonly served: Served;
  readonly warnings: readonly Warning[];
  readonly isSimulated: boolean;
  /** Charges all that made it and stores the answer under the idempotency key, in one transaction. */
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
  // A transcription, or a translation that a target makes itself, plans no chat.
  const plan: ChatPlanner = (target, settings) =>
    chatPlanner(services, expectedRequest(call, facts.durationSeconds))(target, settings);
  const made = decideAudio(context, question, plan, unavailabilityFor(services, call.principal));
  const { decision, byChat } = made;
  const considered = [...decision.considered, ...(byChat?.considered ?? [])];
  recordDecision(call, context, question, { ...decision, considered });
  return made;
}

/** Fast speech: about 200 words a minute. */
const CHARACTERS_PER_SECOND = 20;

/** Before anybody has listened; what is judged of a target does not depend on the text. */
function expectedRequest({ fields }: Pick<RoutedCall, "fields">, audioSeconds: number): ChatRequest {
  return translationRequest("x".repeat(Math.ceil(audioSeconds * CHARACTERS_PER_SECOND)), targetLanguage(fields));
}

/** The chat to come, as its first target would be asked. */
export interface ExpectedChat {
  readonly target: Target;
  readonly request: ChatRequest;
}

export function expectedChat(call: RoutedCall, { candidates }: ByChat, audioSeconds: number): ExpectedChat | null {
  const [first] = candidates;
  return first === undefined ? null : { target: first.target, request: expectedRequest(call, audioSeconds) };
}

/** What would be reserved of it; null when unknown. */
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
  readonly transcribed: Served;
  readonly slot: HeldSlot | null;
  readonly journal: SlotJournal;
  /** What the transcription has left. */
  readonly allowance: AttemptAllowance;
}

export async function translateByChat(
  services: GatewayServices,
  call: AudioCall & ChatCaller,
  given: ToTranslate,
): Promise<MadeTranscript> {
  const { decision, transcribed, journal } = given;
  const text = transcribed.transcript.text.trim();
  const wanted = { ...decision.wanted, task: "translate" } as const;
  const heardSimulated = transcribed.billing.billingClass === "simulated";
  // Nobody spoke: there is nothing to translate, and no model is asked to find something.
  if (text === "")
    return {
      wanted,
      served: withText(transcribed, ""),
      warnings: [],
      isSimulated: heardSimulated,
      finish: (reply) => journal.finish(transcribed.settlement, reply),
    };
  const chat = await translate(services, call, given, translationRequest(text, targetLanguage(call.fields)));
  const warnings = attemptWarnings(chat.attempt, chat.usage);
  return {
    wanted,
    served: withText(transcribed, translationIn(chat.content)),
    warnings: [TRANSLATED_BY_CHAT, ...warnings.filter(({ code }) => !heardSimulated || code !== "SIMULATED_PROVIDER")],
    isSimulated: heardSimulated || chat.attempt.billing.billingClass === "simulated",
    finish: async (reply) => chat.settle(reply),
  };
}

/** The source's segments and words are no part of a translation. */
function withText(served: Served, text: string): Served {
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
      ledger: settlingBoth(services, transcribed.settlement, journal),
      judge: (content) => void translationIn(content),
    });
  } catch (error) {
    // A fault of ours says nothing of the work: the transcript's reservation is left to the sweeper.
    if (error instanceof GatewayError) {
      const isLeft = slot === null && call.clientGone.aborted;
      await journal.settle(isLeft ? transcribed.settlement : undelivered(transcribed.settlement));
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

/** The chat that serves settles the transcript with it; one that fails is settled alone, for the next may serve. */
function settlingBoth({ ledger }: GatewayServices, transcript: Settlement, journal: SlotJournal): AttemptLedger {
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

/** It was made and not delivered: the operator's cost [metering.charge-delivered]. */
function undelivered(settlement: Settlement): Settlement {
  return { ...settlement, outcome: "failed:not_delivered", billableAudioMs: 0, chargeNanoUsd: 0n };
}

/** The whole of it, or no translation: one that was cut, withheld or left out is a failure of its target. */
function translationIn({ text, finishReason }: ChatContent): string {
  const translation = text?.trim() ?? "";
  if (finishReason === "stop" && translation !== "") return translation;
  throw new ProviderError("feature_dropped", { reason: "translation" });
}
