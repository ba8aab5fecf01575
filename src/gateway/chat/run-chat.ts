// Tries the capable chat targets in order until one answers. Unlike audio, chat also falls back after an unknown outcome, as long as no content was received;
// each attempt is reserved and settled on its own [chat.fallback-after-unknown].
import type { SettlementResult, TokenUsage } from "../../metering/ledger-entries.ts";
import { chatReceipts } from "../../providers/chat/chat-receipts.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { GatewayError } from "../../contract/errors.ts";
import { ProviderError } from "../../providers/io.ts";
import { type AttemptAllowance, createAttemptAllowance } from "../calls/attempt-allowance.ts";
import { abortedBy, LEAST_FOR_ANOTHER_MS, remainingMs } from "../calls/attempt-end.ts";
import { isMoneyRefusal } from "../calls/budget-exceeded.ts";
import { type ChatAttempt, NOTHING_USED, openAttempt, usageOf } from "./chat-attempt.ts";
import { type AttemptLedger } from "./attempt-ledger.ts";
import { type ChatCaller, type ChatCandidate, type DecidedChat } from "./chat-call.ts";
import type { ChatContent } from "./chat-content.ts";
import { estimateOutputTokens } from "./estimate-tokens.ts";
import {
  certaintyOf,
  chatExhausted,
  type FailedAttempt,
  failedAttempt,
  outcomeUnknown,
} from "../calls/judge-failure.ts";
import type { GatewayReply } from "../reply.ts";
import { isPausedByNow } from "../calls/resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import { type ClaimedSlot, abortSignalFor } from "../idempotency/with-slot.ts";

export interface ServedChat {
  readonly attempt: ChatAttempt;
  readonly content: ChatContent;
  readonly usage: TokenUsage;
  /** Charges the attempt and stores the answer under the idempotency key, in one transaction. */
  readonly settle: (reply: GatewayReply) => Promise<SettlementResult>;
}

export interface ChatRunOptions {
  /** Absent: the database's ledger with a slot, the leases of this process without one. */
  readonly ledger?: AttemptLedger;
  /** What an earlier step has left of the limit. Absent: the whole limit of the request. */
  readonly allowance?: AttemptAllowance;
  /** Throws a `ProviderError` for an unacceptable answer, so that the next target is tried. */
  readonly judge?: (content: ChatContent) => void;
}

export function runChat(
  services: GatewayServices,
  call: ChatCaller,
  decision: DecidedChat,
  slot: ClaimedSlot | null,
  options: ChatRunOptions = {},
): Promise<ServedChat> {
  const hasTime = () => remainingMs(services, call) >= LEAST_FOR_ANOTHER_MS;
  return firstToServe(services, call, decision, { slot, hasTime, allowance: options.allowance }, async (candidate) => {
    const attempt = await openAttempt(services, call, decision, candidate, {
      slot,
      signal: abortSignalFor(call, slot),
      timeoutMs: remainingMs(services, call),
      ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
    });
    let used = NOTHING_USED;
    try {
      const result = await attempt.provider.chat(attempt.plan, attempt.io);
      used = { reported: result.usage, inputTokens: null, outputTokens: estimateOutputTokens(result) };
      requireReceipts(decision.wanted, result);
      options.judge?.(result);
      const settle = (reply: GatewayReply) =>
        attempt.succeed(
          used,
          result.providerRequestId,
          slot === null ? undefined : { kind: "complete", ref: slot.ref, reply },
        );
      return { attempt, content: result, usage: usageOf(attempt.billing, used), settle };
    } catch (error) {
      await attempt.endBadly(error, used);
      throw error;
    }
  });
}

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

/** Requires proof of every required feature that an answer can show; without it the answer is withheld [chat.receipts]. */
export function requireReceipts(request: ChatRequest, content: ChatContent): void {
  const missing = chatReceipts(request, content).flatMap(({ feature, delivered }) => (delivered ? [] : [feature]));
  if (missing.length > 0) throw new ProviderError("feature_dropped", { reason: missing.join(",") });
}
