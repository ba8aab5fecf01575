// POST /admin/v1/configuration/apply: a running gateway reads its configuration file again (`patchbay apply`)
// [configuration.apply-own-file].
import { z } from "zod";
import { json, operatorEndpoint } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";

export const applyRequest = z.strictObject({
  file: z
    .string()
    .max(4_096)
    .nullable()
    .default(null)
    .describe("The file that is meant, as an absolute path: another one than the gateway's own is refused."),
  dry_run: z.boolean().default(false).describe("Tells the difference and changes nothing."),
});

const setUpChange = z.strictObject({
  action: z
    .enum(["created", "changed", "released", "removed"])
    .describe("`released`: no longer in the file; it stays, and the API rules it. `removed`: it is gone or revoked."),
  kind: z.string(),
  name: z.string(),
});
export type SetUpChangeView = z.infer<typeof setUpChange>;

export const applied = z.strictObject({
  object: z.literal("configuration_applied"),
  file: z.string(),
  dry_run: z.boolean(),
  changes: z.array(setUpChange),
});
export type Applied = z.infer<typeof applied>;

export const postApplyContract: EndpointContract = operatorEndpoint({
  method: "POST",
  path: "/configuration/apply",
  operationId: "applyConfiguration",
  summary: "Read the configuration file again",
  description:
    "Brings connections, routes, purposes, workspaces, apps, keys, budgets, plans and prices of the gateway's own file into force, as a start does. Listeners, limits and the like wait for a restart.",
  requestBody: { json: applyRequest },
  responses: { 200: json("What differed.", applied) },
  errors: ["NOT_FOUND", "CONFLICT", "BODY_TOO_LARGE"],
});
