// Turns a budget's refusal into the caller's 402 error [metering.refusal-figures].
import { GatewayError } from "../../contract/errors.ts";
import { createSymbolSlot } from "../../lib/symbol-slot.ts";
import type { BudgetExceeded } from "../../metering/budget.ts";
import { formatUsd } from "../../metering/money.ts";

const UNITS = {
  usd: { unit: "USD", figure: formatUsd },
  audio_seconds: { unit: "seconds of audio", figure: (ms: bigint) => Number(ms) / 1000 },
  tokens: { unit: "tokens", figure: Number },
} as const;

const figures = createSymbolSlot<GatewayError, BudgetExceeded>("budget exceeded");

export function budgetExceeded(exceeded: BudgetExceeded): GatewayError {
  const error = exceeded.budgetKind === "budget" ? overBudget(exceeded) : creditsRequired();
  figures.set(error, exceeded);
  return error;
}

/** The budget refused this target. Another target may cost less, or nothing. */
export function isMoneyRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.code === "BUDGET_EXCEEDED" || error.code === "CREDITS_REQUIRED");
}

/** The figures of the refusal. Null: another error. */
export function exceededIn(error: unknown): BudgetExceeded | null {
  return error instanceof GatewayError ? (figures.get(error) ?? null) : null;
}

function overBudget(exceeded: BudgetExceeded): GatewayError {
  const { kind, period } = exceeded;
  const { unit, figure } = UNITS[kind];
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

function creditsRequired(): GatewayError {
  return new GatewayError("CREDITS_REQUIRED", {
    message:
      "The workspace's plan does not cover this request: plain chat uses its monthly tokens, everything else its credits. Add credits, or connect your own provider account.",
  });
}
