// Converts the forecast of a budget to its form in API responses [budgets.forecast-null].
import type { BudgetForecastView } from "../../contract/admin/budget-forecast.ts";
import type { BudgetState } from "../../metering/budget.ts";
import { forecastBudget } from "../../metering/forecast-budget.ts";
import { formatUsd } from "../../metering/money.ts";

export function describeForecast(budget: BudgetState): BudgetForecastView {
  const forecast = forecastBudget(budget);
  if (forecast === null) return null;
  return {
    spent_usd: formatUsd(forecast.nanoUsd),
    spent_audio_seconds: Number(forecast.audioMs) / 1000,
    spent_tokens: Number(forecast.tokens),
    limit_reached_at: forecast.limitReachedAt?.toISOString() ?? null,
  };
}
