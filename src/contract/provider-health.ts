// GET /admin/v1/health/providers: which models on which accounts rest after failures (contract 10; reliability 7).
import { z } from "zod";
import { json, operatorEndpoint } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";

const circuit = z.strictObject({
  workspace_id: z.string().nullable().describe("Whose account; null: the platform's."),
  connection: z.string(),
  model: z.string(),
  state: z
    .enum(["closed", "open", "half_open"])
    .describe("`open`: it rests. `half_open`: its rest is over, and one call decides."),
  consecutive_failures: z.int().min(0),
  recent_calls: z.int().min(0).describe("Of the last 10 s, at most 100."),
  recent_failures: z.int().min(0),
  openings: z.int().min(0).describe("Rests since it last answered a probe; each is longer."),
  rests_until: z.string().nullable(),
});

export const providerHealth = z.strictObject({
  object: z.literal("provider_health"),
  checked_at: z.string(),
  circuits: z.array(circuit).describe("Every model that this process called; other processes judge for themselves."),
});
export type ProviderHealth = z.infer<typeof providerHealth>;

export const getProviderHealthContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/health/providers",
  operationId: "getProviderHealth",
  summary: "Provider health as this process sees it",
  responses: { 200: json("The circuits.", providerHealth) },
  errors: [],
});
