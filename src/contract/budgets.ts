// Budgets of an app, for its workspace's administrators and the operator [budgets.administrators].
import { z } from "zod";
import { CHANGE_ERRORS, json, jsonWithEtag, managedBy, mirrored, optionalMatch, time } from "./admin.ts";
import { budgetForecast } from "./budget-forecast.ts";
import { budgetLimits, PERIODS } from "./set-up/app.ts";
import { deletedView } from "./workspaces.ts";

export const budgetChange = z.strictObject(budgetLimits);

const amount = z.number().min(0);

export const budgetView = z.strictObject({
  object: z.literal("budget"),
  id: z.string(),
  app_id: z.string(),
  period: z.enum(PERIODS),
  limit_usd: z.string().nullable(),
  limit_audio_seconds: z.number().nullable(),
  limit_tokens: z.number().nullable(),
  soft_limit: z.number().nullable(),
  managed_by: managedBy,
  usage: z
    .strictObject({
      spent_usd: z.string(),
      reserved_usd: z.string(),
      spent_audio_seconds: amount,
      reserved_audio_seconds: amount,
      spent_tokens: amount,
      reserved_tokens: amount,
      soft_limit_reached: z.boolean().describe("What is spent has come to `soft_limit`; nothing is refused for it."),
      resets_at: time.nullable(),
      forecast: budgetForecast,
    })
    .describe("Of the window that runs now."),
});
export type BudgetView = z.infer<typeof budgetView>;

const budgetList = z.strictObject({
  object: z.literal("list"),
  data: z.array(budgetView).describe("At most one for each period."),
});

const ALL = "/apps/:app_id/budgets";
const ONE = `${ALL}/:period`;

export const BUDGET_CONTRACTS = {
  list: mirrored({
    method: "GET",
    path: ALL,
    operationId: "listBudgets",
    summary: "An app's budgets and what they hold",
    responses: { 200: json("The budgets.", budgetList) },
    errors: [],
  }),
  read: mirrored({
    method: "GET",
    path: ONE,
    operationId: "getBudget",
    summary: "An app's budget of a period: `day`, `month` or `total`",
    responses: { 200: jsonWithEtag("The budget.", budgetView) },
    errors: [],
  }),
  put: mirrored({
    method: "PUT",
    path: ONE,
    operationId: "putBudget",
    summary: "Set an app's budget of a period",
    description:
      "Makes it, or, with `If-Match`, replaces its limits; what it has spent stays spent. It holds from the next request on, for chats from the next slice of the budget on.",
    requestBody: { json: budgetChange },
    headers: optionalMatch,
    responses: {
      200: jsonWithEtag("The budget, replaced.", budgetView),
      201: jsonWithEtag("The budget, made.", budgetView),
    },
    errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
  }),
  remove: mirrored({
    method: "DELETE",
    path: ONE,
    operationId: "deleteBudget",
    summary: "Remove an app's budget of a period",
    headers: optionalMatch,
    responses: { 200: json("It is gone.", deletedView) },
    errors: CHANGE_ERRORS,
  }),
};
