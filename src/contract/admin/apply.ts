// Schemas and endpoint of the admin API for POST /admin/v1/configuration/apply: a running gateway rereads its configuration file (`patchbay apply`)
// [configuration.apply-own-file].
import { z } from "zod";
import { json, operatorEndpoint } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";

export const applyRequest = z.strictObject({
  file: z
    .string()
    .max(4_096)
    .nullable()
    .default(null)
    .describe("Absolute path of the expected file: refused if the gateway uses another one."),
  dry_run: z.boolean().default(false).describe("Returns the differences and changes nothing."),
});

const setUpChange = z.strictObject({
  action: z
    .enum(["created", "changed", "released", "removed"])
    .describe(
      "`released`: no longer in the file, so it keeps working and is managed through the API. `removed`: deleted or revoked.",
    ),
  kind: z.string(),
  name: z.string(),
});
export type SetUpChangeView = z.infer<typeof setUpChange>;

export const applyResult = z.strictObject({
  object: z.literal("configuration_applied"),
  file: z.string(),
  dry_run: z.boolean(),
  changes: z.array(setUpChange),
  warnings: z
    .array(z.string())
    .describe("What the file contains that works but should change, such as models that end."),
});
export type ApplyResult = z.infer<typeof applyResult>;

export const postApplyContract: EndpointContract = operatorEndpoint({
  method: "POST",
  path: "/configuration/apply",
  operationId: "applyConfiguration",
  summary: "Reload the configuration file",
  description:
    "Applies connections, routes, purposes, workspaces, apps, keys, budgets, plans and prices of the gateway's own file, as at a start. Other settings, such as listeners and limits, require a restart.",
  requestBody: { json: applyRequest },
  responses: { 200: json("What differed.", applyResult) },
  errors: ["NOT_FOUND", "CONFLICT", "BODY_TOO_LARGE"],
});
