// Schemas and endpoints of the admin API for an app's budgets, for its workspace's administrators and the operator [budgets.administrators].
import { z } from "zod";
import { CHANGE_ERRORS, json, jsonWithEtag, managedBy, mirrorForOperator, optionalMatch, time } from "./admin.ts";
import { budgetForecast } from "./budget-forecast.ts";
import { budgetLimits, PERIODS } from "../settings/app.ts";
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
      soft_limit_reached: z.boolean().describe("Whether spend has reached `soft_limit`. No request is refused for it."),
      resets_at: time.nullable(),
      forecast: budgetForecast,
    })
    .describe("Of the current window."),
});
export type BudgetView = z.infer<typeof budgetView>;

export const budgetList = z.strictObject({
  object: z.literal("list"),
  data: z.array(budgetView).describe("At most one for each period."),
});

const ALL = "/apps/:app_id/budgets";
const ONE = `${ALL}/:period`;

export const BUDGET_CONTRACTS = {
  list: mirrorForOperator({
    method: "GET",
    path: ALL,
    operationId: "listBudgets",
    summary: "Get an app's budgets and their usage",
    responses: { 200: json("The budgets.", budgetList) },
    errors: [],
  }),
  read: mirrorForOperator({
    method: "GET",
    path: ONE,
    operationId: "getBudget",
    summary: "Get an app's budget for a period: `day`, `month` or `total`",
    responses: { 200: jsonWithEtag("The budget.", budgetView) },
    errors: [],
  }),
  put: mirrorForOperator({
    method: "PUT",
    path: ONE,
    operationId: "putBudget",
    summary: "Create or replace an app's budget for a period",
    description:
      "Creates it or, with `If-Match`, replaces its limits; its spend is kept. Takes effect with the next request, for chats with the next slice of the budget.",
    requestBody: { json: budgetChange },
    headers: optionalMatch,
    responses: {
      200: jsonWithEtag("The budget, replaced.", budgetView),
      201: jsonWithEtag("The budget, created.", budgetView),
    },
    errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
  }),
  remove: mirrorForOperator({
    method: "DELETE",
    path: ONE,
    operationId: "deleteBudget",
    summary: "Delete an app's budget for a period",
    headers: optionalMatch,
    responses: { 200: json("Deleted.", deletedView) },
    errors: CHANGE_ERRORS,
  }),
};
