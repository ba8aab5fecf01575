// Schemas and endpoints of the admin API for plans, and for the credits that a workspace has or is granted [budgets.credits-grant].
import { z } from "zod";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  mirrorForOperator,
  operatorEndpoint,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { MONEY } from "../settings/app.ts";
import { ID } from "../settings/kit.ts";
import { deletedView } from "./workspaces.ts";

const grants = {
  monthly_chat_tokens: z.int().min(0).default(0).describe("Chat tokens included each month."),
  credits_usd: MONEY.default("0").describe("Credits for metered models."),
};

export const planRequest = z.strictObject({ id: ID.describe("Name of the plan. Cannot be changed later."), ...grants });
export const planChange = z.strictObject(grants);

export const planView = z.strictObject({
  object: z.literal("plan"),
  id: z.string(),
  monthly_chat_tokens: z.number(),
  credits_usd: z.string(),
  managed_by: managedBy,
});
export type PlanView = z.infer<typeof planView>;
export const planList = listOf(planView);

export const planQuery = z.object(pageFields);

const ONE = "/plans/:plan_id";

export const listPlansContract = operatorEndpoint({
  method: "GET",
  path: "/plans",
  operationId: "listPlans",
  summary: "List plans",
  query: planQuery,
  responses: { 200: json("A page of plans, by name.", planList) },
  errors: [],
});
export const postPlanContract = operatorEndpoint({
  method: "POST",
  path: "/plans",
  operationId: "createPlan",
  summary: "Create a plan",
  requestBody: { json: planRequest },
  responses: { 201: jsonWithEtag("The plan.", planView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});
export const getPlanContract = operatorEndpoint({
  method: "GET",
  path: ONE,
  operationId: "getPlan",
  summary: "Get a plan",
  responses: { 200: jsonWithEtag("The plan.", planView) },
  errors: ["NOT_FOUND"],
});
export const putPlanContract = operatorEndpoint({
  method: "PUT",
  path: ONE,
  operationId: "replacePlan",
  summary: "Update a plan",
  description: "Takes effect at once for every workspace on it. Used tokens and credits remain used.",
  requestBody: { json: planChange },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The plan.", planView) },
  errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
});
export const deletePlanContract = operatorEndpoint({
  method: "DELETE",
  path: ONE,
  operationId: "deletePlan",
  summary: "Delete a plan that no workspace uses",
  headers: optionalMatch,
  responses: { 200: json("Deleted.", deletedView) },
  errors: CHANGE_ERRORS,
});

const SIGNED_MONEY_RULE = 'must be a decimal in quotes, such as "25.00" or "-5"';
const signedMoney = z.string({ error: SIGNED_MONEY_RULE }).regex(/^-?\d{1,9}(\.\d{1,9})?$/, SIGNED_MONEY_RULE);

export const grantRequest = z.strictObject({
  amount_usd: signedMoney.describe("Granted amount. Negative: taken back. Not 0."),
  note: z.string().min(1).max(500).describe("Reason, for the audit log."),
});

export const creditsView = z.strictObject({
  object: z.literal("credits"),
  workspace_id: z.string(),
  plan: z.string().nullable().describe("Null: no plan, so there is no credit check and nothing is counted here."),
  plan_credits_usd: z.string().describe("Credits included in the plan."),
  granted_usd: z.string().describe("Credits granted in addition to the plan."),
  spent_usd: z.string(),
  reserved_usd: z.string(),
  balance_usd: z.string().describe("Remaining credits. Negative if more was taken back than remained."),
  allowance: z
    .strictObject({
      monthly_chat_tokens: z.number(),
      spent_tokens: z.number(),
      reserved_tokens: z.number(),
      resets_at: time,
    })
    .nullable()
    .describe("The plan's monthly chat tokens, which plain chat uses first."),
});
export type CreditsView = z.infer<typeof creditsView>;

export const creditsContracts = mirrorForOperator({
  method: "GET",
  path: "/credits",
  operationId: "getCredits",
  summary: "Get a workspace's remaining credits and monthly tokens",
  responses: { 200: json("The credits.", creditsView) },
  errors: [],
});

export const postCreditsContract = operatorEndpoint({
  method: "POST",
  path: "/workspaces/:tenant_id/credits",
  operationId: "grantCredits",
  summary: "Grant or take back credits of a workspace",
  description:
    "In addition to those of its plan. They are kept when the plan changes, and count while there is a plan.",
  requestBody: { json: grantRequest },
  headers: z.object({
    "Idempotency-Key": z
      .string()
      .regex(/^[\x21-\x7e]{1,255}$/)
      .describe(
        "Makes retries safe: with one key the same amount and note are granted to a workspace once, however often they are sent; a different request with the same key is a 409. These keys do not expire.",
      )
      .optional(),
  }),
  responses: {
    201: {
      ...json("The current credits.", creditsView),
      headers: { "X-SVC-Idempotent-Replay": "`true` if it was granted before under this key, and not again." },
    },
  },
  errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "BODY_TOO_LARGE"],
});

export const PLAN_ENDPOINTS: readonly EndpointContract[] = [
  listPlansContract,
  postPlanContract,
  getPlanContract,
  putPlanContract,
  deletePlanContract,
  creditsContracts.operator,
  postCreditsContract,
];
