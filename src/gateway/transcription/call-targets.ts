// Calls the targets of a request in order and, if a chat translates, the chat targets with the transcript. Everything is reserved before it is called and
// charged with the answer.
import { assertNever } from "../../lib/assert-never.ts";
import type { SpeechAudio } from "../../providers/provider.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import type { ByChat } from "../../routing/decide-translation.ts";
import { createAttemptAllowance } from "../calls/attempt-allowance.ts";
import { callerGone } from "../calls/attempt-end.ts";
import type { RunOutcome, ServedOutcome } from "../calls/run-outcome.ts";
import { deadlineOf } from "../deadline.ts";
import { outcomeUnknown, USE_A_JOB } from "../calls/judge-failure.ts";
import { exhaustedError } from "../calls/exhausted-errors.ts";
import { payerOf } from "../account/payer.ts";
import { runCandidates } from "../calls/run-candidates.ts";
import type { ChatCaller } from "../chat/chat-call.ts";
import { createSlotJournal } from "../idempotency/slot-journal.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";
import type { GatewayServices } from "../services.ts";
import { translateByChat } from "../translation/translate-by-chat.ts";
import type { AudioCall } from "./audio-call.ts";
import { type MadeTranscript, madeByTargets } from "./made-transcript.ts";

type Decided = Extract<RouteDecision, { ok: true }>;

interface Work {
  readonly audio: SpeechAudio;
  readonly decision: Decided;
  /** Null: the targets of `decision` do all of the work. */
  readonly byChat: ByChat | null;
  readonly slot: ClaimedSlot | null;
  readonly signal: AbortSignal;
  /** Disposed of when the answer is complete. */
  readonly holds: DisposableStack;
}

export async function callTargets(
  services: GatewayServices,
  call: Pick<AudioCall, "fields"> & ChatCaller & { readonly receivedAtMs: number },
  { audio, decision, byChat, slot, signal, holds }: Work,
): Promise<MadeTranscript> {
  const payer = payerOf(call, decision.purpose);
  const deadlineAtMs = deadlineOf(services, call);
  const journal = createSlotJournal(services, payer, slot, deadlineAtMs);
  const { maxAttemptsPerRequest } = services.limits;
  // Shared by both steps of a translation by chat, which need one target each.
  const allowance = createAttemptAllowance(
    byChat === null ? maxAttemptsPerRequest : Math.max(2, maxAttemptsPerRequest),
  );
  const outcome = await runCandidates(services, {
    payer,
    audio,
    wanted: decision.wanted,
    candidates: decision.candidates,
    mayPayTwice: decision.route.mayPayTwice,
    deadlineAtMs,
    signal,
    journal,
    allowance: byChat === null ? allowance : allowance.leaving(1),
    holds,
  });
  const transcribed = await requireServed(outcome, decision, slot);
  if (byChat === null) return madeByTargets(decision.wanted, transcribed, journal);
  const toLanguage = call.fields.to_language;
  const chat = { decision, byChat, toLanguage, transcribed, slot, signal, deadlineAtMs, journal, allowance };
  return translateByChat(services, call, chat);
}

async function requireServed(
  outcome: RunOutcome,
  { considered }: Decided,
  slot: ClaimedSlot | null,
): Promise<ServedOutcome> {
  switch (outcome.kind) {
    case "served":
      return outcome;
    case "exhausted":
      throw exhaustedError(outcome.failures, considered, outcome.attemptLimit);
    case "unknown":
      // Work may have been done under this key: it must never run again.
      await slot?.burn();
      throw outcomeUnknown(outcome.how, { advice: USE_A_JOB, wasFollowed: outcome.wasFollowed });
    case "aborted":
      // The response is never read, because the caller disconnected.
      throw callerGone();
    default:
      return assertNever(outcome);
  }
}
