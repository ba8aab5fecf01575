// Reserves what a chat attempt may cost before its first byte is sent: from the plan's allowance first, then from its credits [budgets.plan-allowance].
import type { AttemptId } from "../../contract/ids.ts";
import { budgetExceeded } from "../billing/budget-exceeded.ts";
import type { AttemptLedger } from "./attempt-ledger.ts";
import type { ChatCaller, ChatCandidate } from "./chat-call.ts";
import { nextFunding } from "./chat-funding.ts";
import { type ChatBilling, reserveNanoUsd } from "./chat-quote.ts";
import type { GatewayServices } from "../services.ts";
import { slotTakenOver } from "../idempotency/slot-taken-over.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";
import type { ClaimedSlot } from "../idempotency/with-slot.ts";

/** Returns the billing with the funding that pays. Throws BUDGET_EXCEEDED or CREDITS_REQUIRED. */
export async function reserveChat(
  services: Pick<GatewayServices, "now">,
  call: ChatCaller,
  candidate: ChatCandidate,
  quote: ChatBilling,
  attempt: {
    readonly attemptId: AttemptId;
    readonly purpose: string | null;
    readonly timeoutMs: number;
    readonly slot: ClaimedSlot | null;
    readonly ledger: AttemptLedger;
  },
): Promise<ChatBilling> {
  const { principal } = call;
  const { target } = candidate;
  const { attemptId, timeoutMs, slot, ledger } = attempt;
  if (principal.app === null) throw new Error("an attempt without an app");
  for (let billing = quote; ; ) {
    const reserved = await mapDatabaseUnavailable(
      ledger.reserve({
        attemptId,
        requestId: call.requestId,
        workspaceId: principal.workspace.id,
        appId: principal.app.id,
        keyId: principal.key.id,
        endpoint: call.endpoint,
        purpose: attempt.purpose,
        connection: target.connection,
        provider: target.provider,
        model: target.model,
        position: target.position,
        billingClass: billing.billingClass,
        audioMs: 0,
        tokens: billing.reserveTokens,
        funding: billing.funding,
        reserveNanoUsd: reserveNanoUsd(billing),
        estimateNanoUsd: billing.listNanoUsd,
        price: billing.price,
        deadlineAt: new Date(services.now().getTime() + timeoutMs),
        ...(slot === null ? {} : { slot: slot.ref }),
      }),
    );
    if (reserved.ok) return billing;
    if ("slotLost" in reserved) throw slotTakenOver();
    const funding = reserved.exceeded.budgetKind === "allowance" ? nextFunding(billing.funding) : null;
    if (funding === null) throw budgetExceeded(reserved.exceeded);
    billing = { ...billing, funding };
  }
}
