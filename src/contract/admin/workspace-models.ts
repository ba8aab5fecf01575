// Schemas and endpoints for GET …/models: the models that routes of a workspace, or shared routes, can reference [providers.model-list].
import { z } from "zod";
import { BILLING_CLASSES } from "../billing-class.ts";
import { DATA_POLICY_ASPECTS } from "../settings/data-policy.ts";
import { CAPABILITIES } from "../features.ts";
import { knownLife, notOffered } from "../model-life.ts";
import { type OwnerEndpoints, mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";

const billingClass = z.enum(BILLING_CLASSES).nullable();

export const assignableModel = z.strictObject({
  connection: z.string().nullable().describe("Null: neither the workspace's own nor the shared connections have it."),
  connection_owner: z
    .enum(["platform", "workspace"])
    .nullable()
    .describe("A workspace's own connection replaces the shared one with the same id."),
  provider: z.string(),
  model: z.string(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z.array(z.string()).describe("Features that a request can require."),
  weak_features: z
    .array(z.string())
    .describe("Emulated with weaker guarantees: only if a route lists them in `accept_weak`."),
  limits: z
    .strictObject({
      max_bytes: z.number().nullable(),
      max_seconds: z.number().nullable(),
      max_channels: z.number().nullable(),
      formats: z.array(z.string()).nullable().describe("Null: every format that the gateway accepts."),
      max_output_tokens: z.number().nullable(),
      context_tokens: z.number().nullable(),
    })
    .describe("Null: none known."),
  languages: z
    .union([z.literal("any"), z.array(z.string())])
    .nullable()
    .describe("Null: it accepts no audio."),
  life: knownLife,
  not_offered: notOffered,
  data_policy: z
    .array(
      z.strictObject({
        capability: z.enum(CAPABILITIES),
        aspect: z.enum(DATA_POLICY_ASPECTS),
        value: z
          .union([z.string(), z.int(), z.array(z.string())])
          .describe(
            "`training`: never, opt_out_sent or possible. `retention`: none, deletable, or days. `regions`: a list, or any.",
          ),
        basis: z
          .enum(["vendor", "statement", "gateway"])
          .describe("`statement`: stated by the owner of the connection and not provable."),
        source: z.string(),
        verified_on: z.string().nullable().describe("Null: a page without a date, or a statement."),
        sent: z.array(z.string()).describe("Settings that a request is sent with if it relies on the fact."),
      }),
    )
    .describe("What is proven about the data. What is not listed counts as not guaranteed."),
  billing_class: z
    .strictObject({ audio_input: billingClass, chat: billingClass })
    .describe("Billing class. Null: it lacks the capability."),
  assignable: z.boolean().describe("Whether routes of this workspace can use it."),
  reason: z
    .enum(["no_connection", "no_credential", "not_installed", "not_offered", "unpriced", "credits_required"])
    .nullable()
    .describe(
      "Why it is not assignable. `not_installed`: the model, or its engine, is not on the gateway's machine. `not_offered`: no adapter speaks its protocol. `unpriced`: the workspace has a plan, which covers priced models only. `credits_required`: the plan does not cover it at the moment.",
    ),
});

export const assignableModels = z.strictObject({
  object: z.literal("list"),
  data: z.array(assignableModel),
});
export type AssignableModels = z.infer<typeof assignableModels>;
export type AssignableModel = AssignableModels["data"][number];

const listed = mirrorForAllOwners({
  method: "GET",
  path: "/models",
  operationId: "getWorkspaceModels",
  summary: "List models that routes can name",
  description:
    "Current state, by the workspace's own and the shared connections and its plan: every model that the adapters know or a connection declares. Models without a connection are listed too, with `no_connection`: an own provider account makes them assignable.",
  responses: { 200: { description: "The models.", content: { "application/json": assignableModels } } },
  errors: [],
});
export const getModelsContracts: OwnerEndpoints = {
  ...listed,
  platform: { ...listed.platform, operationId: "getPlatformModels" },
};
