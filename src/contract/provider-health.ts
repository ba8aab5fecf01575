// GET /admin/v1/health/providers: which models on which accounts are unavailable after failures or paused by hand, and what all processes
// saw of each [admin.health].
import { z } from "zod";
import { json, operatorEndpoint, time } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";
import { pauseView } from "./pauses.ts";

/** More calls are not read for one answer, and of one model no more errors are told. */
export const HEALTH_LIMITS = { calls: 5_000, errors: 20 } as const;

const count = z.int().min(0);
const ms = count.nullable();
const whose = {
  workspace_id: z.string().nullable().describe("Whose account; null: the platform's."),
  connection: z.string(),
  model: z.string(),
};
const OUTCOME = "As in the request's record: `succeeded`, `failed:<kind>`, `unknown` or `aborted`.";

const circuit = z.strictObject({
  ...whose,
  state: z
    .enum(["closed", "open", "half_open"])
    .describe("`open`: it rests. `half_open`: its rest is over, and one call decides."),
  consecutive_failures: count,
  recent_calls: count.describe("Of the last 10 s, at most 100."),
  recent_failures: count,
  openings: count.describe("Rests since it last answered a probe; each is longer."),
  rests_until: z.string().nullable(),
});

const seenModel = z.strictObject({
  ...whose,
  provider: z.string(),
  calls: count,
  succeeded: count,
  failed: count.describe(
    "Neither `succeeded` nor `aborted`: of a caller that left nobody knows how it would have ended.",
  ),
  duration_p50_ms: ms.describe(
    "Of those that succeeded, live sessions and jobs apart, which last as long as somebody speaks or they wait; null where there are none.",
  ),
  duration_p95_ms: ms.describe("The same."),
  outcomes: z.array(z.strictObject({ outcome: z.string().describe(OUTCOME), calls: count })).describe("Most first."),
  last_errors: z
    .array(
      z.strictObject({
        at: time.describe("When the call ended."),
        outcome: z.string(),
        duration_ms: count.describe("From its reservation on: of a job its wait too."),
        request_id: z.string().describe("Its record tells the rest: `GET /admin/v1/requests/{request_id}`."),
        attempt_id: z.string().describe("Its line in the log has the provider's status and code."),
      }),
    )
    .max(HEALTH_LIMITS.errors)
    .describe(`The latest first, at most ${HEALTH_LIMITS.errors}.`),
});
export type SeenModel = z.infer<typeof seenModel>;

export const providerHealth = z.strictObject({
  object: z.literal("provider_health"),
  checked_at: z.string(),
  circuits: z.array(circuit).describe("Every model that this process called; other processes judge for themselves."),
  pauses: z
    .array(pauseView)
    .describe("What is paused by hand, of the platform and of all workspaces: no process calls it until then."),
  since: time.describe("Calls that ended from then on are in `models`."),
  sampled: z
    .boolean()
    .describe(
      `More calls ended in the window than are read for an answer: \`models\` tells of the latest ${HEALTH_LIMITS.calls}, and \`since\` is when the first of these ended.`,
    ),
  models: z.array(seenModel).describe("What all processes saw, from the record of their calls; most failures first."),
});
export type ProviderHealth = z.infer<typeof providerHealth>;

export const providerHealthQuery = z.strictObject({
  minutes: z.int().min(1).max(1_440).default(15).describe("How far `models` looks back."),
});

export const getProviderHealthContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/health/providers",
  operationId: "getProviderHealth",
  summary: "Provider health: circuits of this process, pauses and calls of all processes",
  description:
    "Calls with test keys are in neither list: the sandbox that answers them is nobody's account. A connection of the kind `sandbox` is in both. Calls that were never sent, or that a crash of the gateway left open, are not counted; of a live session each reserved slice is one.",
  query: providerHealthQuery,
  responses: { 200: json("The health of providers.", providerHealth) },
  errors: [],
});
