// Schema of the forecast of a budget's spend at the end of its window [budgets.forecast], part of every response that reports a budget.
import { z } from "zod";

export const forecast = z.strictObject({
  spent_usd: z.string().describe("US dollars; digits below a nano-dollar are cut off."),
  spent_audio_seconds: z.number().min(0),
  spent_tokens: z.int().min(0),
  limit_reached_at: z
    .string()
    .nullable()
    .describe("When the forecast reaches the first limit; now if it is already reached. Null: not within this window."),
});

export const budgetForecast = forecast
  .nullable()
  .describe(
    "Forecast of the spend at the end of the window: a linear projection of spend since the window started, ignoring time of day, weekday and refusals, and at least what is spent and reserved now. Null if the budget has no period, and during the first twentieth of the window.",
  );
export type BudgetForecastView = z.infer<typeof budgetForecast>;
