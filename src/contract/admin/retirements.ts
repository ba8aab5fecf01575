// Schemas and endpoints of the retirement radar: what routes, purposes and apps lose when providers end models, with a proposal for each loss
// [retirement.entries].
import { z } from "zod";
import { namedTarget } from "../account.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { CAPABILITIES } from "../features.ts";
import { routingDecision } from "../transcription/transcription-envelope.ts";
import { filterFields, json, listOf, mirrorForOperator, operatorEndpoint, pageFields } from "./admin.ts";

/** Of one retirement. */
export const RETIREMENT_LIMITS = { apps: 20 } as const;

const endingTarget = namedTarget.extend({
  answered_by: z.string().nullable().describe("The provider answers the name by this model. Null: it refuses it."),
  source: z.string().nullable().describe("The page or API with the date."),
});

const affectedApp = z.strictObject({
  workspace_id: z.string(),
  app_id: z.string(),
  app: z.string().describe("Its slug."),
  uses: z.array(z.string()).describe("How it reaches the route: `route`, `audio_input_override` or `purpose/<label>`."),
});

const proposal = z
  .strictObject({
    target: namedTarget.describe("Takes the place of the target at this position."),
    keeps: z.array(z.string()).describe("Of everything that the route loses on the day: what it keeps."),
    lacks: z
      .array(z.string())
      .describe("What the route still loses on the day. `language`: it keeps the rest in fewer languages."),
    dry_run: routingDecision.describe("What the route would decide on the day for a request that requires `feature`."),
  })
  .describe("Never applied automatically.");

export const retirementView = z.strictObject({
  object: z.literal("retirement"),
  id: z.string().describe("Stable as long as date, route, feature and data policy are."),
  kind: z
    .enum(["loss", "redirect"])
    .describe("`redirect`: another model answers a target's name, and no feature is known to be lost."),
  date: z.string().describe("First UTC day of it."),
  days_left: z.int().describe("Whole days until the date. 0 or less: it has come."),
  evidence: z
    .enum(["vendor", "second_hand"])
    .describe("`second_hand`: the provider has not confirmed the date, so routing ignores it."),
  message: z.string(),
  workspace_id: z.string().nullable().describe("The workspace that it concerns alone. Null: all that use the route."),
  route: z.string(),
  route_owner: z.enum(["platform", "workspace"]),
  capability: z.enum(CAPABILITIES),
  feature: z
    .string()
    .describe(
      "What is lost: a feature, `live_audio`, `transcription` or `chat` as a whole, `language`, or the features that a purpose requires together, joined by `+`. `model` for a redirect.",
    ),
  features: z.array(z.string()).describe("All features that are lost with it."),
  languages: z
    .array(z.string())
    .nullable()
    .describe(
      "The languages in which it is lost. `und`: requests without a language; `other`: languages that no target names. Null: all.",
    ),
  data_policy: z
    .string()
    .nullable()
    .describe(
      "Only requests with this data policy of their app or purpose lose it, such as `training=never,regions=eu`. Null: all requests.",
    ),
  targets: z.array(endingTarget).describe("The last targets that could deliver it."),
  purposes: z
    .array(
      z.strictObject({
        purpose: z.string(),
        refused: z.boolean().describe("Its requests are refused from then on, even if the caller requires nothing."),
      }),
    )
    .describe("Purposes that select the route."),
  apps: z.array(affectedApp).max(RETIREMENT_LIMITS.apps).describe("Apps that use the route. The first ones."),
  apps_total: z.int().min(0),
  proposal: proposal.nullable().describe("Null: no available model keeps it, or nothing is lost."),
  unavailable_features: z.array(z.string()).describe("Of `features`: what no model on the connections can do."),
});
export type RetirementView = z.infer<typeof retirementView>;
export const retirementList = listOf(retirementView);

const filters = {
  ...pageFields,
  within_days: z
    .int()
    .min(0)
    .max(3650)
    .describe("Only retirements at most so many days away, and those that have happened.")
    .optional(),
};
export const workspaceRetirementsQuery = z.object(filters);
export const retirementsQuery = z.object({ ...filters, workspace: filterFields.workspace });

const list = {
  method: "GET",
  path: "/retirements",
  description:
    "By date, the earliest first, also dates that have passed while the route still has the target. Judged by the routing functions on a moved clock, with all targets available. A redirect is an end of the features that the answering model lacks. Nothing is changed.",
  responses: { 200: json("A page of retirements.", retirementList) },
} as const;

export const listRetirementsContract: EndpointContract = operatorEndpoint({
  ...list,
  operationId: "listRetirements",
  summary: "List what routes lose when models end",
  query: retirementsQuery,
  errors: ["NOT_FOUND"],
});

export const workspaceRetirementsContracts = mirrorForOperator({
  ...list,
  operationId: "listWorkspaceRetirements",
  summary: "List what a workspace's routes lose when models end",
  query: workspaceRetirementsQuery,
  errors: [],
});
