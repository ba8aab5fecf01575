// What an app used and what it cost (contract 9, 10): by day, purpose and, with `routing:read`, model; never two payers in one sum.
import { z } from "zod";
import { limitsReport } from "./account.ts";
import type { EndpointContract } from "./endpoint.ts";

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
  .enum(["metered", "provider_billed", "simulated"])
  .describe("Who pays: the app by a Patchbay price, the owner of the provider account, or nobody.");

export const usageReport = z.strictObject({
  object: z.literal("usage"),
  from: z.string(),
  to: z.string().describe("Not in it."),
  data: z
    .array(
      z.strictObject({
        day: z.string().describe("UTC."),
        purpose: z.string().nullable().describe("The one that was applied."),
        provider: z.string().describe("Only with scope `routing:read`.").optional(),
        model: z.string().describe("Only with scope `routing:read`.").optional(),
        billing_class: billingClass,
        ...amounts,
      }),
    )
    .describe("Newest day first."),
  totals: z
    .array(z.strictObject({ billing_class: billingClass, ...amounts }))
    .describe("One for each class in `data`."),
  unresolved_chat: z
    .strictObject({ charge_usd: usd, tokens: count })
    .describe("Of chats whose process died before it wrote them down: counted against budgets as spent."),
  budgets: z.array(
    limitsReport.shape.budgets.element.extend({
      spent_usd: usd,
      spent_audio_seconds: seconds,
      spent_tokens: count,
    }),
  ),
});
export type UsageReport = z.infer<typeof usageReport>;

const day = z.iso.date();
export const usageQuery = z.strictObject({
  from: day.describe("First day, UTC; not given: 29 days before the last.").optional(),
  to: day.describe("Last day, UTC; not given: today.").optional(),
});

export const getUsageContract: EndpointContract = {
  method: "GET",
  path: "/v1/usage",
  operationId: "getUsage",
  summary: "What the app used and what it cost",
  description:
    "By day, purpose and who pays; with `routing:read` by model too. At most 400 days. Sums are exact: they add up to the charges of the app's requests.",
  auth: "key",
  query: usageQuery,
  responses: { 200: { description: "The usage.", content: { "application/json": usageReport } } },
  errors: ["FORBIDDEN"],
};
