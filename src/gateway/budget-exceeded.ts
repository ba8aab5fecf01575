// A budget's refusal as the error a caller gets (contract 1, 402).
import { GatewayError } from "../contract/errors.ts";
import type { BudgetExceeded } from "../metering/budget.ts";
import { formatUsd } from "../metering/money.ts";

export function budgetExceeded(exceeded: BudgetExceeded): GatewayError {
  const { kind, period } = exceeded;
  const figure = (amount: bigint) => (kind === "usd" ? formatUsd(amount) : Number(amount) / 1000);
  const unit = kind === "usd" ? "USD" : "seconds of audio";
  return new GatewayError("BUDGET_EXCEEDED", {
    message: `This request could exceed the app's ${period} budget of ${figure(exceeded.limit)} ${unit}. Nothing was called or charged.`,
    details: {
      kind,
      period,
      limit: figure(exceeded.limit),
      spent: figure(exceeded.spent),
      reserved: figure(exceeded.reserved),
      requested: figure(exceeded.requested),
      resets_at: exceeded.resetsAt?.toISOString() ?? null,
    },
  });
}
