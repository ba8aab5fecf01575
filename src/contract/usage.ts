// What was used and what it cost, by day, purpose, model and more, for an app, a workspace or the operator; never two billing classes in
// one sum [usage.classes-separate].
import { z } from "zod";
import { limitsReport } from "./account.ts";
import { mirrored, operatorEndpoint } from "./admin.ts";
import { BILLING_CLASSES } from "./billing-class.ts";
import { budgetForecast } from "./budget-forecast.ts";
import type { EndpointContract } from "./endpoint.ts";
import { CAPABILITIES } from "./features.ts";
import { givenDay } from "./times.ts";

const usd = z.string().describe("US dollars, exact.");
const seconds = z.number().min(0);
const count = z.int().min(0);

const amounts = {
  attempts: count.describe("Calls to providers, failed ones included."),
  failed: count.describe("Those that served nobody."),
  audio_seconds: seconds.describe("Of answers that were delivered, or made for a caller who left."),
  billable_audio_seconds: seconds,
  input_tokens: count.describe("As providers reported them."),
  output_tokens: count,
  cached_input_tokens: count,
  estimated_input_tokens: count.describe("Our own count where a provider reported nothing; in no other figure."),
  estimated_output_tokens: count,
  charge_usd: usd.describe("What the app was charged; 0 unless `metered`."),
  list_usd: usd.describe("The same at list prices; for `provider_billed` what the provider's bill should say."),
  unpriced: count.describe("Delivered calls whose price is unknown: they are missing in `list_usd`."),
  unresolved: count.describe("Calls that a crash left open: not charged, their outcome is unknown."),
};
const billingClass = z
  .enum(BILLING_CLASSES)
  .describe("Who pays: the app by a Patchbay price, the owner of the provider account, or nobody.");

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
/** Of a row: those that were grouped by. */
const group = {
  day: z.string().describe("UTC.").optional(),
  hour: z.string().describe("When it began.").optional(),
  workspace: z.string().optional(),
  app: z.string().optional(),
  key: z.string().nullable().describe("Null where the call belonged to none.").optional(),
  purpose: z.string().nullable().describe("The one that was applied.").optional(),
  provider: z.string().describe(NAMES).optional(),
  model: z.string().describe(NAMES).optional(),
  capability: z.enum(CAPABILITIES).optional(),
};

/** Of a workspace, or of all of them. */
export const usageTable = z.strictObject({
  object: z.literal("usage"),
  from: z.string(),
  to: z.string().describe("Not in it."),
  group_by: z.array(z.enum(USAGE_GROUPS)),
  data: z
    .array(z.strictObject({ ...group, billing_class: billingClass, ...amounts }))
    .describe("One row for each combination that occurred; newest first."),
  totals: z
    .array(z.strictObject({ billing_class: billingClass, ...amounts }))
    .describe("One for each class in `data`."),
  unresolved_chat: z
    .strictObject({ charge_usd: usd, tokens: count })
    .describe("Of chats whose process died before it wrote them down: counted against budgets as spent."),
});
export type UsageTable = z.infer<typeof usageTable>;

const spentBudget = limitsReport.shape.budgets.element.extend({
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
    .array(spentBudget.extend({ app: z.string().describe("Id of the app whose it is.") }))
    .describe("Of the workspace's apps, or of the one asked for; absent where all workspaces were.")
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
  from: day.describe("First day, UTC; not given: 29 days before the last.").optional(),
  to: day.describe("Last day, UTC; not given: today.").optional(),
  group_by: groupList
    .describe(
      "What rows tell apart, with commas between: `day`, `hour`, `app`, `key`, `purpose`, `provider`, `model`, `capability`, and for the operator `workspace`. Not given: day, purpose and, where names may be seen, provider and model.",
    )
    .optional(),
});

export const workspaceUsageQuery = usageQuery.extend({
  app: z.string().min(1).max(64).describe("Id of the app; not given: all of them.").optional(),
  key: z.string().min(1).max(64).describe("Id of the key.").optional(),
});
export const adminUsageQuery = workspaceUsageQuery.extend({
  workspace: z.string().min(1).max(64).describe("Id or slug of the workspace; not given: all of them.").optional(),
});

export type UsageQuestion = z.infer<typeof adminUsageQuery>;

const answers = (schema: z.ZodType) => ({
  200: {
    description: "The usage. As CSV, the rows of `data` under a line of their names.",
    content: { "application/json": schema, "text/csv": z.string() },
  },
});
const DESCRIPTION =
  "By the moment a call was settled, exact and complete when it is asked. At most 400 days, or 31 by the hour. Who pays is never added together: each row has its `billing_class`.";

export const getUsageContract: EndpointContract = {
  method: "GET",
  path: "/v1/usage",
  operationId: "getUsage",
  summary: "What the app used and what it cost",
  description: `${DESCRIPTION} Providers and models are told apart only with \`routing:read\`.`,
  auth: "key",
  query: usageQuery,
  responses: answers(usageReport),
  errors: ["FORBIDDEN", "NOT_ACCEPTABLE"],
};

export const workspaceUsageContracts = mirrored({
  method: "GET",
  path: "/usage",
  operationId: "getWorkspaceUsage",
  summary: "What a workspace's apps used and what it cost",
  description: DESCRIPTION,
  query: workspaceUsageQuery,
  responses: answers(workspaceUsage),
  errors: ["NOT_ACCEPTABLE"],
});

export const getAllUsageContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/usage",
  operationId: "getAllUsage",
  summary: "What all workspaces used and what it cost",
  description: DESCRIPTION,
  query: adminUsageQuery,
  responses: answers(workspaceUsage),
  errors: ["NOT_FOUND", "NOT_ACCEPTABLE"],
});
