// Falls back over the capable chat targets in order until one answers. Unlike audio, chat also falls back after an unknown outcome, as long as no content was
// received [chat.fallback-after-unknown].
import type { GatewayError } from "../../contract/errors.ts";
import { ProviderError } from "../../providers/io.ts";
import { type AttemptAllowance, createAttemptAllowance } from "../calls/attempt-allowance.ts";
import { abortedBy } from "../calls/attempt-end.ts";
import { isMoneyRefusal } from "../billing/budget-exceeded.ts";
import { certaintyOf, type FailedAttempt, failedAttempt, outcomeUnknown } from "../calls/judge-failure.ts";
import { chatExhausted } from "../calls/exhausted-errors.ts";
import { isPausedByNow } from "../calls/target-unavailability.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";
import type { GatewayServices } from "../services.ts";
import type { ChatCaller, ChatCandidate, DecidedChat } from "./chat-call.ts";

/** Serves with the first target that succeeds. A `ProviderError` leads to the next target, or to the error of all of them together. */
export async function firstToServe<Served>(
  services: GatewayServices,
  { principal, clientGone }: Pick<ChatCaller, "principal" | "clientGone">,
  decision: DecidedChat,
  {
    slot,
    hasTime,
    allowance = createAttemptAllowance(services.limits.maxAttemptsPerRequest),
  }: {
    readonly slot: ClaimedSlot | null;
    readonly hasTime: () => boolean;
    readonly allowance?: AttemptAllowance | undefined;
  },
  serve: (candidate: ChatCandidate) => Promise<Served>,
): Promise<Served> {
  const failures: FailedAttempt[] = [];
  let unknown: "unknown" | "timeout" | null = null;
  let attemptLimit: number | null = null;
  let refusal: GatewayError | null = null;
  for (const candidate of decision.candidates) {
    if (isPausedByNow(services, candidate.target, principal)) continue;
    if (!allowance.take()) {
      attemptLimit = allowance.max;
      break;
    }
    try {
      return await serve(candidate);
    } catch (error) {
      if (unknown === null && isMoneyRefusal(error)) {
        refusal ??= error;
        allowance.giveBack();
        continue;
      }
      if (!(error instanceof ProviderError)) {
        // A budget refusal ends the request, but must not free a key under which work may have been done.
        if (unknown !== null) await slot?.burn();
        throw error;
      }
      const { kind } = error;
      if (certaintyOf(kind) === "aborted") throw abortedBy(clientGone);
      failures.push(failedAttempt(candidate.target, error));
      const isUnknown = kind === "unknown" || kind === "timeout";
      if (isUnknown) unknown = kind;
      if ((isUnknown && !decision.route.fallbackAfterUnknown) || !hasTime()) break;
    }
  }
  if (refusal !== null && unknown === null) throw refusal;
  // Work may have been done under this key: it must never run again.
  if (unknown !== null) await slot?.burn();
  if (unknown !== null && attemptLimit === null && failures.length < decision.candidates.length)
    throw outcomeUnknown(unknown, { wasFollowed: failures.at(-1)?.kind !== unknown });
  throw chatExhausted(failures, decision.considered, { keyBurned: unknown !== null && slot !== null, attemptLimit });
}
