// Translates speech by chat if no target translates: a chat target translates the transcript's text. Both calls are reserved before and settled with the
// answer: if one fails, neither is charged, and the speech is not transcribed again [translation.chat-two-attempts] [translation.chat-whole].
import { GatewayError } from "../../contract/errors.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import type { Settlement } from "../../metering/ledger-entries.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import { ProviderError } from "../../providers/io.ts";
import { chatJudge } from "../../routing/decide-chat-route.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import type { ByChat } from "../../routing/decide-translation.ts";
import type { AttemptAllowance } from "../calls/attempt-allowance.ts";
import type { ServedOutcome } from "../calls/run-outcome.ts";
import type { AttemptLedger } from "../chat/attempt-ledger.ts";
import { attemptWarnings } from "../chat/chat-answer.ts";
import type { ChatCaller, DecidedChat } from "../chat/chat-call.ts";
import type { ChatContent } from "../chat/chat-content.ts";
import { chatPlanner } from "../chat/plan-chat.ts";
import { type ChatRun, runChat, type ServedChat } from "../chat/run-chat.ts";
import type { SlotJournal } from "../idempotency/slot-journal.ts";
import type { GatewayServices } from "../services.ts";
import { type MadeTranscript, madeByTargets } from "../transcription/made-transcript.ts";
import { translationRequest } from "./translation-prompt.ts";

export const TRANSLATED_BY_CHAT: Warning = {
  code: "TRANSLATED_BY_CHAT",
  message: "No target of the route translates this speech: a chat model translated its transcript.",
  param: null,
  details: null,
};

interface ToTranslate extends Pick<ChatRun, "slot" | "signal" | "deadlineAtMs"> {
  readonly decision: Extract<RouteDecision, { ok: true }>;
  readonly byChat: ByChat;
  readonly toLanguage: string | undefined;
  /** Reserved, and not settled yet. */
  readonly transcribed: ServedOutcome;
  readonly journal: SlotJournal;
  /** What the transcription has left of the limit. */
  readonly allowance: AttemptAllowance;
}

export async function translateByChat(
  services: GatewayServices,
  caller: ChatCaller,
  input: ToTranslate,
): Promise<MadeTranscript> {
  const { decision, transcribed, journal } = input;
  const wanted = { ...decision.wanted, task: "translate" } as const;
  const text = transcribed.transcript.text.trim();
  // Without speech there is no text to translate, and a model must not invent one.
  if (text === "") return madeByTargets(wanted, withText(transcribed, ""), journal);
  const request = translationRequest(text, input.toLanguage);
  const chat = await translate(services, caller, input, request);
  const isTranscriptSimulated = transcribed.billing.billingClass === "simulated";
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
  caller: ChatCaller,
  { decision, byChat, transcribed, slot, signal, deadlineAtMs, journal, allowance }: ToTranslate,
  request: ChatRequest,
): Promise<ServedChat> {
  try {
    const chat = chatDecision(services, decision, byChat, request);
    return await runChat(services, caller, chat, {
      slot,
      signal,
      deadlineAtMs,
      allowance,
      ledger: ledgerForBoth(services, transcribed.settlement, journal),
      judge: (content) => void translationIn(content),
    });
  } catch (error) {
    // After an internal error the outcome of the chat is unknown: the transcript's reservation is left to the sweeper.
    if (error instanceof GatewayError)
      await journal.settle(signal.aborted ? transcribed.settlement : undelivered(transcribed.settlement));
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
