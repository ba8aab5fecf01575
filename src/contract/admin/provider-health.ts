// Schemas and endpoint of GET /admin/v1/health/providers: per account, models that are unavailable after failures or paused manually, and recent calls of
// all processes [admin.health].
import { z } from "zod";
import { json, operatorEndpoint, time } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { pauseView } from "./pauses.ts";

/** Maximum number of calls read for one answer, and of errors returned per model. */
export const HEALTH_LIMITS = { calls: 5_000, errors: 20 } as const;

const count = z.int().min(0);
const ms = count.nullable();
const accountModel = {
  workspace_id: z.string().nullable().describe("Workspace that owns the account. Null: shared."),
  connection: z.string(),
  model: z.string(),
};
const OUTCOME = "As in the request's record: `succeeded`, `failed:<kind>`, `unknown` or `aborted`.";

const circuit = z.strictObject({
  ...accountModel,
  state: z
    .enum(["closed", "open", "half_open"])
    .describe("`open`: in cooldown. `half_open`: the cooldown is over, and one call decides."),
  consecutive_failures: count,
  recent_calls: count.describe("Of the last 10 s, at most 100."),
  recent_failures: count,
  openings: count.describe("Cooldowns since the last successful probe; each is longer than the previous one."),
  rests_until: z.string().nullable(),
});

const seenModel = z.strictObject({
  ...accountModel,
  provider: z.string(),
  calls: count,
  succeeded: count,
  failed: count.describe(
    "Neither `succeeded` nor `aborted`. The outcome of calls abandoned by their caller is unknown.",
  ),
  duration_p50_ms: ms.describe(
    "Of successful calls, except live sessions and jobs: their duration depends on the speaker or the queue. Null: none.",
  ),
  duration_p95_ms: ms.describe("Like `p50_ms`."),
  outcomes: z
    .array(z.strictObject({ outcome: z.string().describe(OUTCOME), calls: count }))
    .describe("Most frequent first."),
  last_errors: z
    .array(
      z.strictObject({
        at: time.describe("When the call ended."),
        outcome: z.string(),
        duration_ms: count.describe("Since its reservation; for a job this includes its waiting time."),
        request_id: z.string().describe("Its record contains the details: `GET /admin/v1/requests/{request_id}`."),
        attempt_id: z.string().describe("Its line in the log contains the provider's status and code."),
      }),
    )
    .max(HEALTH_LIMITS.errors)
    .describe(`Newest first, at most ${HEALTH_LIMITS.errors}.`),
});
export type SeenModel = z.infer<typeof seenModel>;

export const providerHealth = z.strictObject({
  object: z.literal("provider_health"),
  checked_at: z.string(),
  circuits: z.array(circuit).describe("Every model that this process has called; each process has its own circuits."),
  pauses: z
    .array(pauseView)
    .describe("Manual pauses of shared and workspace connections: no process calls them until the pause ends."),
  since: time.describe("Start of the window: calls that ended later are in `models`."),
  sampled: z
    .boolean()
    .describe(
      `More calls ended in the window than one answer reads: \`models\` covers the latest ${HEALTH_LIMITS.calls}, and \`since\` is when the first of these ended.`,
    ),
  models: z.array(seenModel).describe("Calls of all processes, from the request log; models with most failures first."),
});
export type ProviderHealth = z.infer<typeof providerHealth>;

export const providerHealthQuery = z.strictObject({
  minutes: z.int().min(1).max(1_440).default(15).describe("Length of the window of `models`."),
});

export const getProviderHealthContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/health/providers",
  operationId: "getProviderHealth",
  summary: "Provider health: circuits of this process, pauses and calls of all processes",
  description:
    "Calls with test keys are in neither list, because the sandbox that answers them is not an account. A connection of the kind `sandbox` is in both. Calls that were never sent, or that a crash of the gateway left open, are not counted; each reserved slice of a live session counts as one.",
  query: providerHealthQuery,
  responses: { 200: json("The health of providers.", providerHealth) },
  errors: [],
});
