// What a budget will have spent when its window ends [budgets.forecast], wherever budgets are reported.
import { z } from "zod";

export const budgetForecast = z
  .strictObject({
    spent_usd: z.string().describe("US dollars; what is finer than a nano-dollar is left off."),
    spent_audio_seconds: z.number().min(0),
    spent_tokens: z.int().min(0),
    limit_reached_at: z
      .string()
      .nullable()
      .describe(
        "When the first of its limits is met at that pace, now where it is met already; null: not before the window ends.",
      ),
  })
  .nullable()
  .describe(
    "What will be spent when the window ends, as if nothing were refused: at the pace of what was spent since the window began, which no night and no Sunday distorts and which is exact in the end, and at least what is spent and reserved now. Null where the budget has no period, and until a twentieth of the window has passed.",
  );
export type BudgetForecastView = z.infer<typeof budgetForecast>;
