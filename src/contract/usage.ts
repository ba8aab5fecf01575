// Schemas and endpoints of usage and cost by day, purpose, model and more, for an app, a workspace or the operator; never two billing classes in one sum
// [usage.classes-separate].
import { z } from "zod";
import { limitsReport } from "./account.ts";
import { filterFields, mirrorForOperator, operatorEndpoint } from "./admin/admin.ts";
import { BILLING_CLASSES } from "./billing-class.ts";
import { budgetForecast } from "./admin/budget-forecast.ts";
import type { EndpointContract } from "./endpoints/endpoint.ts";
import { CAPABILITIES } from "./features.ts";
import { givenDay } from "./times.ts";

const usd = z.string().describe("US dollars, exact.");
const seconds = z.number().min(0);
const count = z.int().min(0);

const amounts = {
  attempts: count.describe("Calls to providers, including failed ones."),
  failed: count.describe("Calls without a delivered answer."),
  audio_seconds: seconds.describe("Of delivered answers, or of answers for a caller who disconnected."),
  billable_audio_seconds: seconds,
  input_tokens: count.describe("As reported by providers."),
  output_tokens: count,
  cached_input_tokens: count,
  estimated_input_tokens: count.describe(
    "Estimated by the gateway if a provider reported nothing; not included in other figures.",
  ),
  estimated_output_tokens: count,
  charge_usd: usd.describe("Charge of the app; 0 unless `metered`."),
  list_usd: usd.describe("The same at list prices; for `provider_billed` the expected amount of the provider's bill."),
  unpriced: count.describe("Delivered calls with an unknown price: not included in `list_usd`."),
  unresolved: count.describe("Calls that a crash left open: not charged, their outcome is unknown."),
};
const billingClass = z
  .enum(BILLING_CLASSES)
  .describe(
    "Billing class: `metered` (the app pays a Patchbay price), `provider_billed` (the owner of the provider account pays), or `simulated` (free).",
  );

export const USAGE_GROUPS = [
  "day",
  "hour",
  "workspace",
  "app",
  "key",
  "purpose",
  "provider",
  "model",
  "capability",
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const NAMES = "Only with scope `routing:read`.";
/** The grouping dimensions of a row. */
const group = {
  day: z.string().describe("UTC.").optional(),
  hour: z.string().describe("Start of the hour.").optional(),
  workspace: z.string().optional(),
  app: z.string().optional(),
  key: z.string().nullable().describe("Null: the call has none.").optional(),
  purpose: z.string().nullable().describe("The applied purpose.").optional(),
  provider: z.string().describe(NAMES).optional(),
  model: z.string().describe(NAMES).optional(),
  capability: z.enum(CAPABILITIES).optional(),
};

export const unresolvedChat = z
  .strictObject({ charge_usd: usd, tokens: count })
  .describe("Chats of a process that died before it recorded them: counted as spent by budgets.");

/** Of one workspace, or of all. */
export const usageTable = z.strictObject({
  object: z.literal("usage"),
  from: z.string(),
  to: z.string().describe("Not included."),
  group_by: z.array(z.enum(USAGE_GROUPS)),
  data: z
    .array(z.strictObject({ ...group, billing_class: billingClass, ...amounts }))
    .describe("One row for each combination that occurred; newest first."),
  totals: z
    .array(z.strictObject({ billing_class: billingClass, ...amounts }))
    .describe("One for each class in `data`."),
  unresolved_chat: unresolvedChat,
});
export type UsageTable = z.infer<typeof usageTable>;

export const spentBudget = limitsReport.shape.budgets.element.extend({
  spent_usd: usd,
  spent_audio_seconds: seconds,
  spent_tokens: count,
  forecast: budgetForecast,
});
export type SpentBudget = z.infer<typeof spentBudget>;

export const usageReport = usageTable.extend({ budgets: z.array(spentBudget) });
export type UsageReport = z.infer<typeof usageReport>;

export const workspaceUsage = usageTable.extend({
  budgets: z
    .array(spentBudget.extend({ app: z.string().describe("Id of the app that owns it.") }))
    .describe("Of the workspace's apps, or of the requested one. Absent for all workspaces.")
    .optional(),
});
export type WorkspaceUsage = z.infer<typeof workspaceUsage>;

const day = givenDay();
const groupList = z
  .string()
  .max(200)
  .transform((text) => [...new Set(text.split(",").map((name) => name.trim()))])
  .pipe(z.array(z.enum(USAGE_GROUPS)));

export const usageQuery = z.strictObject({
  from: day.describe("First day, UTC. Default: 29 days before the last.").optional(),
  to: day.describe("Last day, UTC. Default: today.").optional(),
  group_by: groupList
    .describe(
      "Dimensions of the rows, separated by commas: `day`, `hour`, `app`, `key`, `purpose`, `provider`, `model`, `capability`, and for the operator `workspace`. Default: day, purpose and, if names are visible, provider and model.",
    )
    .optional(),
});

export const workspaceUsageQuery = usageQuery.extend({
  app: z.string().min(1).max(64).describe("Id of the app. Default: all apps.").optional(),
  key: filterFields.key,
});
export const adminUsageQuery = workspaceUsageQuery.extend({
  workspace: z.string().min(1).max(64).describe("Id or slug of the workspace. Default: all.").optional(),
});

export type UsageQuestion = z.infer<typeof adminUsageQuery>;

const answers = (schema: z.ZodType) => ({
  200: {
    description: "The usage. As CSV, the rows of `data` under a header line.",
    content: { "application/json": schema, "text/csv": z.string() },
  },
});
const DESCRIPTION =
  "By the time a call was settled; exact and complete at the time of the request. At most 400 days, or 31 by hour. Billing classes are never added up: each row has its `billing_class`.";

export const getUsageContract: EndpointContract = {
  method: "GET",
  path: "/v1/usage",
  operationId: "getUsage",
  summary: "Get the app's usage and cost",
  description: `${DESCRIPTION} Providers and models are separate only with \`routing:read\`.`,
  auth: "key",
  query: usageQuery,
  responses: answers(usageReport),
  errors: ["FORBIDDEN", "NOT_ACCEPTABLE"],
};

export const workspaceUsageContracts = mirrorForOperator({
  method: "GET",
  path: "/usage",
  operationId: "getWorkspaceUsage",
  summary: "Get usage and cost of a workspace's apps",
  description: DESCRIPTION,
  query: workspaceUsageQuery,
  responses: answers(workspaceUsage),
  errors: ["NOT_ACCEPTABLE"],
});

export const getAllUsageContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/usage",
  operationId: "getAllUsage",
  summary: "Get usage and cost of all workspaces",
  description: DESCRIPTION,
  query: adminUsageQuery,
  responses: answers(workspaceUsage),
  errors: ["NOT_FOUND", "NOT_ACCEPTABLE"],
});
