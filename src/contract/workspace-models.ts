// GET …/models: what the routes of a workspace, or the shared ones, can name [providers.model-list].
import { z } from "zod";
import { BILLING_CLASSES } from "./billing-class.ts";
import { CAPABILITIES } from "./features.ts";
import { type Everywhere, everywhere } from "./set-up/everywhere.ts";

const billingClass = z.enum(BILLING_CLASSES).nullable();

const assignableModel = z.strictObject({
  connection: z.string().nullable().describe("Null: no connection of this workspace's or the platform's has it."),
  connection_owner: z
    .enum(["platform", "workspace"])
    .nullable()
    .describe("A workspace's own connection replaces the platform's of the same id."),
  provider: z.string(),
  model: z.string(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z.array(z.string()).describe("What can be required of it."),
  weak_features: z
    .array(z.string())
    .describe("Emulated with less than the feature promises: only where a route lists them in `accept_weak`."),
  limits: z
    .strictObject({
      max_bytes: z.number().nullable(),
      max_seconds: z.number().nullable(),
      max_channels: z.number().nullable(),
      formats: z.array(z.string()).nullable().describe("Null: every format that the gateway takes."),
      max_output_tokens: z.number().nullable(),
      context_tokens: z.number().nullable(),
    })
    .describe("Null: none that is known."),
  languages: z
    .union([z.literal("any"), z.array(z.string())])
    .nullable()
    .describe("Null: it takes no audio."),
  billing_class: z
    .strictObject({ audio_input: billingClass, chat: billingClass })
    .describe("Who pays; null where it lacks the capability."),
  assignable: z.boolean().describe("A route of this workspace that names it is served by it."),
  reason: z
    .enum(["no_connection", "no_credential", "unpriced", "credits_required"])
    .nullable()
    .describe(
      "Why it is not assignable. `unpriced`: the workspace has a plan, which pays for priced models only. `credits_required`: the plan does not cover it now.",
    ),
});

export const assignableModels = z.strictObject({
  object: z.literal("list"),
  data: z.array(assignableModel),
});
export type AssignableModels = z.infer<typeof assignableModels>;
export type AssignableModel = AssignableModels["data"][number];

const listed = everywhere({
  method: "GET",
  path: "/models",
  operationId: "getWorkspaceModels",
  summary: "Models that routes can name",
  description:
    "As of now, by the connections of whose they are and the platform's, and by the plan of a workspace: every model the adapters know or a connection declares. Models without a connection are listed too, with `no_connection`: an own provider account makes them assignable.",
  responses: { 200: { description: "The models.", content: { "application/json": assignableModels } } },
  errors: [],
});
export const getModelsContracts: Everywhere = {
  ...listed,
  platform: { ...listed.platform, operationId: "getPlatformModels" },
};
