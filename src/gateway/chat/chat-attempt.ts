// One call to one chat target, from its reservation to its settlement. It is reserved durably before the first byte is sent and settled
// exactly once, with its usage recorded in every ending [chat.reserve-and-settle].
import { newId } from "../../contract/ids.ts";
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import type { AttemptOutcome, Settled, Settlement, SlotEnd, TokenUsage } from "../../metering/ledger-entries.ts";
import type { ChatPlan, ChatProvider, ChatUsage } from "../../providers/chat/chat-provider.ts";
import { createReplyHold } from "../../providers/wire/reply-hold.ts";
import { outputCap } from "../../providers/chat/asked-chat-features.ts";
import type { ProviderFailure } from "../../providers/wire/provider-failure.ts";
import { type FailureKind, ProviderError, type StreamingIo } from "../../providers/io.ts";
import { chatReplyBound, type ReplyBound } from "../../providers/wire/reply-bounds.ts";
import type { HistoryField } from "../../contract/chat-history.ts";
import type { ChatDropped } from "../../contract/features.ts";
import { attemptOutcome, logFailedAttempt } from "../calls/attempt-end.ts";
import { watchCall } from "../calls/call-watch.ts";
import type { SpentAmounts } from "../calls/observer.ts";
import { type ChatBilling, chargeNanoUsd, chatQuote, countedTokens } from "./chat-quote.ts";
import { reserveChat } from "./reserve-chat.ts";
import { resolveAccount } from "../calls/resolve-account.ts";
import type { GatewayServices } from "../services.ts";
import type { HeldSlot } from "../idempotency/with-slot.ts";
import { settleWhenAvailable } from "../calls/settle-when-available.ts";
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
  /** The answer is there: charged by what was used, and kept under the slot where there is one. */
  readonly succeed: (used: Used, providerRequestId: string | null, slot?: SlotEnd) => MaybePromise<Settled>;
  /**
   * When nothing of it runs any more. Charged only when its caller hung up on it after it was sent. A fault of ours says nothing of
   * the provider: what became of the call is unknown.
   */
  readonly endBadly: (error: unknown, used: Used) => Promise<void>;
}

/** What the provider reported for the whole; else what it said of the input, and our own estimate of what came. */
export interface Used {
  readonly reported: ChatUsage | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number;
}

export const NOTHING_USED: Used = { reported: null, inputTokens: null, outputTokens: 0 };

interface AttemptOptions {
  readonly slot: HeldSlot | null;
  /** Where it is reserved and settled; absent: as the slot demands. */
  readonly ledger?: AttemptLedger;
  /** Aborts the call; a `ProviderError` as its reason says what kind of failure that is. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Of a stream: called whenever bytes of it came. */
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
  const account = resolveAccount(services, target, call.principal.testMode);
  const quoted = chatQuote(services, call.principal, target, decision.wanted);
  const attemptId = newId("attempt");
  const timeoutMs = Math.min(account.timeoutMs, options.timeoutMs);
  const deadlineAtMs = services.now().getTime() + options.timeoutMs;
  // A slot is marked in the transaction that reserves; without one the app's lease pays, and nothing is waited for.
  const ledger = options.ledger ?? (options.slot === null ? services.leases : services.ledger);
  const asked = countedTokens(quoted, decision.wanted);
  const countTokens = await mapDatabaseUnavailable(services.quotas.takeTokens(call.principal, asked));
  let billing: ChatBilling;
  try {
    billing = await reserveChat(services, call, candidate, quoted, {
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
  const watched = watchCall(services, { requestId: call.requestId, attemptId, operation: "chat", target, testMode });
  let dispatched = false;
  const hold = createReplyHold();
  const end = (failure: FailureKind | null, usage: TokenUsage | null, charged: boolean) => {
    hold[Symbol.dispose]();
    countTokens(usage === null ? 0 : usage.inputTokens + usage.outputTokens);
    watched.end(failure, usage === null ? null : spentOn(billing, usage, charged));
  };
  const settle = (outcome: AttemptOutcome, usage: TokenUsage | null, facts: EndFacts): MaybePromise<Settled> => {
    const settlement = settlementOf(billing, usage, facts);
    return settleWhenAvailable(services, { deadlineAtMs, slot: options.slot }, () =>
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
    succeed: (used, providerRequestId, slot) => {
      const usage = usageOf(billing, used);
      end(null, usage, true);
      return settle("succeeded", usage, { charged: true, providerRequestId, slot });
    },
    endBadly: async (error, used) => {
      if (!(error instanceof ProviderError)) {
        end("aborted", null, false);
        // No sweeper looks at what a lease pays for while its process lives.
        await settle("unknown", null, { charged: false, providerRequestId: null });
        return;
      }
      const asRun = error.kind === "aborted" && dispatched;
      const known = asRun || used.reported !== null || used.outputTokens > 0;
      const usage = known ? usageOf(billing, used) : null;
      end(error.kind, usage, asRun);
      logFailedAttempt(services, call, { attemptId, target, error });
      await settle(attemptOutcome(error.kind), usage, {
        charged: asRun,
        providerRequestId: null,
        failure: error.provider,
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
  readonly failure?: ProviderFailure | null;
}

function settlementOf(
  billing: ChatBilling,
  usage: TokenUsage | null,
  { charged, providerRequestId, slot, failure }: EndFacts,
): Omit<Settlement, "attemptId" | "outcome"> {
  return {
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd: charged && usage !== null ? chargeNanoUsd(billing, usage) : 0n,
    providerRequestId,
    receipts: [],
    ...(failure == null ? {} : { providerFailure: failure }),
    ...(usage === null ? {} : { usage }),
    ...(slot === undefined ? {} : { slot }),
  };
}

/** Missing usage is estimated and marked [metering.usage-source]. */
export function usageOf(billing: ChatBilling, { reported, inputTokens, outputTokens }: Used): TokenUsage {
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
