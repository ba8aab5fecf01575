// Creates the error 402 for a request that a budget, an allowance or credits do not cover [metering.refusal-figures].
import { GatewayError, type GatewayErrorOptions } from "../../contract/errors.ts";
import type { BudgetExceeded } from "../../metering/budget.ts";
import { formatUsd } from "../../metering/money.ts";

const UNITS = {
  usd: { unit: "USD", figure: formatUsd },
  audio_seconds: { unit: "seconds of audio", figure: (ms: bigint) => Number(ms) / 1000 },
  tokens: { unit: "tokens", figure: Number },
} as const;

/** Keeps the figures of the refusal for the request log. */
class BudgetExceededError extends GatewayError {
  readonly exceeded: BudgetExceeded;

  constructor(exceeded: BudgetExceeded, code: "BUDGET_EXCEEDED" | "CREDITS_REQUIRED", options: GatewayErrorOptions) {
    super(code, options);
    this.exceeded = exceeded;
  }
}

export function budgetExceeded(exceeded: BudgetExceeded): GatewayError {
  return exceeded.budgetKind === "budget"
    ? new BudgetExceededError(exceeded, "BUDGET_EXCEEDED", overBudget(exceeded))
    : new BudgetExceededError(exceeded, "CREDITS_REQUIRED", CREDITS_REQUIRED);
}

/** The budget refused this target. Another target may cost less, or nothing. */
export function isMoneyRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.code === "BUDGET_EXCEEDED" || error.code === "CREDITS_REQUIRED");
}

/** The figures of the refusal. Null: another error. */
export function exceededIn(error: unknown): BudgetExceeded | null {
  return error instanceof BudgetExceededError ? error.exceeded : null;
}

function overBudget(exceeded: BudgetExceeded): GatewayErrorOptions {
  const { kind, period } = exceeded;
  const { unit, figure } = UNITS[kind];
  return {
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
  };
}

const CREDITS_REQUIRED: GatewayErrorOptions = {
  message:
    "The workspace's plan does not cover this request: plain chat uses its monthly tokens, everything else its credits. Add credits, or connect your own provider account.",
};
