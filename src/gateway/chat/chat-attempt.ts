// One call to one chat target: reserved durably before the first byte is sent, settled exactly once, with its usage recorded however it ends
// [chat.reserve-and-settle].
import { newId } from "../../contract/ids.ts";
import type {
  AttemptOutcome,
  SettlementResult,
  Settlement,
  SlotEnd,
  TokenUsage,
} from "../../metering/ledger-entries.ts";
import type { ChatPlan, ChatProvider, ChatUsage } from "../../providers/chat/chat-provider.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import { outputCap } from "../../providers/chat/unmet-chat-features.ts";
import { chatTexts, type RecordableFailure, recordableFailure } from "../../providers/wire/recordable-failure.ts";
import type { Receipt } from "../../providers/receipt.ts";
import { type FailureKind, ProviderError, type StreamingIo } from "../../providers/io.ts";
import { chatReplyBound, type ReplyBound } from "../../providers/wire/reply-bounds.ts";
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import type { ChatDropped } from "../../contract/features.ts";
import { attemptOutcome, logFailedAttempt } from "../calls/attempt-end.ts";
import { watchCall } from "../calls/call-watch.ts";
import type { SpentAmounts } from "../calls/observer.ts";
import { type ChatBilling, chargeNanoUsd, chatQuote, countedTokens } from "./chat-quote.ts";
import { createModelJudge, type ModelJudge } from "./model-judge.ts";
import { reserveChat } from "./reserve-chat.ts";
import { requireDataPolicy } from "../calls/require-data-policy.ts";
import { resolveAccount } from "../calls/resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";
import { settleWhenAvailable } from "../billing/settle-when-available.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";
import type { DecidedChat, ChatCandidate, ChatCaller } from "./chat-call.ts";
import type { AttemptLedger } from "./attempt-ledger.ts";

export interface ChatAttempt {
  readonly candidate: ChatCandidate;
  readonly provider: ChatProvider;
  readonly plan: ChatPlan;
  readonly dropped: readonly ChatDropped[];
  readonly ignoredHistory: readonly HistoryField[];
  readonly rewrittenTools: readonly number[];
  readonly billing: ChatBilling;
  readonly io: StreamingIo;
  /** Called before the content of the answer is used. */
  readonly judgeModel: ModelJudge["judge"];
  /** Charges the attempt by its usage, and completes the idempotency slot if there is one. */
  readonly succeed: (used: TokensUsed, providerRequestId: string | null, slot?: SlotEnd) => Promise<SettlementResult>;
  /**
   * Called when no part of the call is running any more. Charged only if the caller aborted it after it was sent. After an internal error the outcome of the
   * call is unknown. `received`: texts of the answer until then.
   */
  readonly endBadly: (error: unknown, used: TokensUsed, received?: readonly string[]) => Promise<void>;
}

/** The provider's final usage if reported; otherwise the input that it reported and our own estimate of the output. */
export interface TokensUsed {
  readonly reported: ChatUsage | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number;
}

export const NOTHING_USED: TokensUsed = { reported: null, inputTokens: null, outputTokens: 0 };

interface AttemptOptions {
  readonly slot: ClaimedSlot | null;
  /** Absent: the database's ledger with a slot, the leases of this process without one. */
  readonly ledger?: AttemptLedger;
  /** Aborts the call. A `ProviderError` as its reason determines the kind of failure. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** For a stream: called whenever bytes of it are received. */
  readonly onReceived?: () => void;
}

export async function openAttempt(
  services: GatewayServices,
  call: ChatCaller,
  decision: DecidedChat,
  candidate: ChatCandidate,
  options: AttemptOptions,
): Promise<ChatAttempt> {
  const { target, verdict } = candidate;
  const provider = services.chatProviders.get(target.provider);
  if (provider === undefined || verdict.planned === null) throw new Error(`no chat adapter for ${target.provider}`);
  requireDataPolicy(services, candidate, "chat");
  const account = resolveAccount(services, target, call.principal.testMode);
  const quote = chatQuote(services, call.principal, target, decision.wanted);
  const attemptId = newId("attempt");
  const timeoutMs = Math.min(account.timeoutMs, options.timeoutMs);
  const deadlineAtMs = services.now().getTime() + options.timeoutMs;
  // With a slot, the transaction that reserves also marks the slot. Without one, the app's lease pays and nothing is awaited.
  const ledger = options.ledger ?? (options.slot === null ? services.leases : services.ledger);
  const tokenCount = countedTokens(quote, decision.wanted);
  const countTokens = await mapDatabaseUnavailable(services.quotas.takeTokens(call.principal, tokenCount));
  let billing: ChatBilling;
  try {
    billing = await reserveChat(services, call, candidate, quote, {
      attemptId,
      purpose: decision.purpose.svc_applied_purpose,
      timeoutMs,
      slot: options.slot,
      ledger,
    });
  } catch (error) {
    countTokens(0);
    throw error;
  }

  const { testMode } = call.principal;
  const callWatch = watchCall(services, {
    requestId: call.requestId,
    attemptId,
    operation: "chat",
    target,
    workspaceId: call.principal.workspace.id,
    testMode,
  });
  let dispatched = false;
  const modelJudge = createModelJudge(provider, target, callWatch);
  const hold = createReplyHold();
  const end = (failure: FailureKind | null, usage: TokenUsage | null, charged: boolean) => {
    hold[Symbol.dispose]();
    countTokens(usage === null ? 0 : usage.inputTokens + usage.outputTokens);
    callWatch.end(failure, usage === null ? null : spentOn(billing, usage, charged));
  };
  const settle = (outcome: AttemptOutcome, usage: TokenUsage | null, facts: EndFacts): Promise<SettlementResult> => {
    const settlement = settlementOf(billing, usage, { ...facts, receipts: modelJudge.receipts() });
    return settleWhenAvailable(services, { deadlineAtMs, slot: options.slot }, async () =>
      ledger.settle({ attemptId, outcome, ...settlement }),
    );
  };
  return {
    candidate,
    provider,
    plan: verdict.planned.plan,
    dropped: verdict.planned.dropped,
    ignoredHistory: verdict.planned.ignored ?? [],
    rewrittenTools: verdict.planned.rewrittenTools ?? [],
    billing,
    io: services.openIo({
      ...account,
      signal: options.signal,
      timeoutMs,
      expected: { owner: call.principal.workspace.id, bound: boundOf(decision, candidate), hold },
      onDispatch: () => {
        dispatched = true;
        options.slot?.markDispatched();
      },
      ...(options.onReceived === undefined ? {} : { onReceived: options.onReceived }),
    }),
    judgeModel: modelJudge.judge,
    succeed: (used, providerRequestId, slot) => {
      const usage = usageOf(billing, used);
      end(null, usage, true);
      return settle("succeeded", usage, { charged: true, providerRequestId, slot });
    },
    endBadly: async (error, used, received = []) => {
      if (!(error instanceof ProviderError)) {
        end("aborted", null, false);
        // Settled here, because the sweeper ignores what a lease pays for while its process lives.
        await settle("unknown", null, { charged: false, providerRequestId: null });
        return;
      }
      const isChargedAsRun = error.kind === "aborted" && dispatched;
      const hasUsage = isChargedAsRun || used.reported !== null || used.outputTokens > 0;
      const usage = hasUsage ? usageOf(billing, used) : null;
      end(error.kind, usage, isChargedAsRun);
      logFailedAttempt(services, call, { attemptId, target, error });
      await settle(attemptOutcome(error.kind), usage, {
        charged: isChargedAsRun,
        providerRequestId: null,
        failure: recordableFailure(error.provider, () => [...chatTexts(decision.wanted), ...received]),
      });
    },
  };
}

function boundOf({ wanted }: DecidedChat, { target }: ChatCandidate): ReplyBound {
  return chatReplyBound(target.chat === null ? null : outputCap(wanted, target.chat));
}

interface EndFacts {
  readonly charged: boolean;
  readonly providerRequestId: string | null;
  readonly slot?: SlotEnd | undefined;
  readonly failure?: RecordableFailure | null;
  readonly receipts?: readonly Receipt[];
}

function settlementOf(
  billing: ChatBilling,
  usage: TokenUsage | null,
  { charged, providerRequestId, slot, failure, receipts = [] }: EndFacts,
): Omit<Settlement, "attemptId" | "outcome"> {
  return {
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd: charged && usage !== null ? chargeNanoUsd(billing, usage) : 0n,
    providerRequestId,
    receipts,
    ...(failure == null ? {} : { providerFailure: failure }),
    ...(usage === null ? {} : { usage }),
    ...(slot === undefined ? {} : { slot }),
  };
}

/** Missing usage is estimated and marked as such [metering.usage-source]. */
export function usageOf(billing: ChatBilling, { reported, inputTokens, outputTokens }: TokensUsed): TokenUsage {
  if (reported !== null) return { ...reported, source: "reported" };
  return {
    inputTokens: inputTokens ?? billing.inputTokens,
    outputTokens,
    cachedInputTokens: 0,
    source: "estimated",
  };
}

function spentOn(billing: ChatBilling, usage: TokenUsage, charged: boolean): SpentAmounts {
  return {
    billingClass: billing.billingClass,
    audioMs: 0,
    billableMs: 0,
    chargeNanoUsd: charged ? chargeNanoUsd(billing, usage) : 0n,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
  };
}
