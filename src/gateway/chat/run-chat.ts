// Runs a chat without streaming until its whole answer: falls back over the targets, and reserves and settles each attempt separately.
import type { SettlementResult, TokenUsage } from "../../metering/ledger-entries.ts";
import type { AttemptAllowance } from "../calls/attempt-allowance.ts";
import { hasTimeForAnother, remainingMs } from "../deadline.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";
import type { GatewayReply } from "../reply.ts";
import type { GatewayServices } from "../services.ts";
import type { AttemptLedger } from "./attempt-ledger.ts";
import { type ChatAttempt, NOTHING_USED, openAttempt, usageOf } from "./chat-attempt.ts";
import type { ChatCaller, DecidedChat } from "./chat-call.ts";
import { type ChatContent, requireReceipts } from "./chat-content.ts";
import { estimateOutputTokens } from "./estimate-tokens.ts";
import { firstToServe } from "./first-to-serve.ts";

export interface ServedChat {
  readonly attempt: ChatAttempt;
  readonly content: ChatContent;
  readonly usage: TokenUsage;
  /** Charges the attempt and stores the answer under the idempotency key, in one transaction. */
  readonly settle: (reply: GatewayReply) => Promise<SettlementResult>;
}

export interface ChatRun {
  readonly slot: ClaimedSlot | null;
  /** Aborts the calls. */
  readonly signal: AbortSignal;
  readonly deadlineAtMs: number;
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
  run: ChatRun,
): Promise<ServedChat> {
  const { slot, signal, deadlineAtMs, allowance } = run;
  const hasTime = () => hasTimeForAnother(services, deadlineAtMs);
  return firstToServe(services, call, decision, { slot, hasTime, allowance }, async (candidate) => {
    const attempt = await openAttempt(services, call, decision, candidate, {
      slot,
      signal,
      timeoutMs: remainingMs(services, deadlineAtMs),
      ...(run.ledger === undefined ? {} : { ledger: run.ledger }),
    });
    let used = NOTHING_USED;
    try {
      const result = await attempt.provider.chat(attempt.plan, attempt.io);
      used = { reported: result.usage, inputTokens: null, outputTokens: estimateOutputTokens(result) };
      attempt.judgeModel(result.answeredModel ?? null);
      requireReceipts(decision.wanted, result);
      run.judge?.(result);
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
