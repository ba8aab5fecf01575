// Schemas and endpoints for /admin/v1/local-models: speech models that run on this machine, which of them are installed, and pulls with their progress
// [local-models.admin].
import { z } from "zod";
import { json, listOf, operatorEndpoint, time } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";

const bytes = z.int().min(0);

const localModelPull = z.strictObject({
  state: z.enum(["running", "failed", "cancelled"]),
  phase: z
    .enum(["waiting", "downloading", "retrying", "unpacking", "verifying"])
    .describe("`waiting`: another process pulls the same model. `retrying`: a connection failed."),
  bytes: bytes.describe("Of this phase."),
  total_bytes: bytes,
  started_at: time,
  error: z.string().nullable(),
});
export type LocalModelPull = z.infer<typeof localModelPull>;

export const localModelView = z.strictObject({
  object: z.literal("local_model"),
  name: z.string(),
  title: z.string(),
  role: z
    .enum(["recogniser", "streaming_recogniser", "silence", "speakers"])
    .describe("`silence`: finds speech. `speakers`: one of the two models of diarization."),
  state: z
    .enum(["available", "installed", "damaged"])
    .describe("`damaged`: a file is missing or has another size; pull or import it again."),
  damage: z.string().nullable(),
  default: z.boolean().describe("Pulled by `patchbay models pull` without a name."),
  languages: z.array(z.string()).describe("ISO 639-1 codes. Empty: independent of the language."),
  features: z.array(z.string()).describe("What it delivers, such as `words` (times of words) and `punctuation`."),
  licence: z.strictObject({ id: z.string().describe("SPDX identifier."), url: z.string(), attribution: z.string() }),
  download_bytes: bytes,
  installed_bytes: bytes,
  published_quality: z.string().nullable().describe("As its publisher reports it."),
  figures: z
    .enum(["second_hand", "confirmed"])
    .describe(
      "`second_hand`: sizes and checksums are copied from public sources and were never compared with a download. `confirmed`: they were, here or by the maintainers.",
    ),
  installed_at: time.nullable(),
  licence_accepted_at: time.nullable(),
  pull: localModelPull.nullable().describe("The pull that this process runs, or its last one that did not succeed."),
});
export type LocalModelView = z.infer<typeof localModelView>;
export const localModelList = listOf(localModelView);

export const localModelPullRequest = z.strictObject({
  licence: z.string().min(1).max(100).describe("The model's `licence.id`: sending it accepts the licence."),
});

const PATH = "/local-models";

export const listLocalModelsContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: PATH,
  operationId: "listLocalModels",
  summary: "List models that run on this machine",
  description: "All models of the manifest, whether installed or not. One page.",
  responses: { 200: json("The models.", localModelList) },
  errors: [],
});

export const getLocalModelContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: `${PATH}/:model_name`,
  operationId: "getLocalModel",
  summary: "Get a model that runs on this machine, with the progress of its pull",
  description: "Progress is that of this process.",
  responses: { 200: json("The model.", localModelView) },
  errors: ["NOT_FOUND"],
});

export const pullLocalModelContract: EndpointContract = operatorEndpoint({
  method: "POST",
  path: `${PATH}/:model_name/pull`,
  operationId: "pullLocalModel",
  summary: "Pull a model",
  description:
    "Starts the download in this process and answers at once; poll the model for its progress. A running pull is not started again. Refused with 409 where `models.fetch` is `never`.",
  requestBody: { json: localModelPullRequest },
  responses: { 202: json("The model, with its pull.", localModelView) },
  errors: ["NOT_FOUND", "CONFLICT", "BODY_TOO_LARGE"],
});

export const cancelLocalModelPullContract: EndpointContract = operatorEndpoint({
  method: "DELETE",
  path: `${PATH}/:model_name/pull`,
  operationId: "cancelLocalModelPull",
  summary: "Stop a pull",
  description: "What was downloaded is kept, and the next pull continues there.",
  responses: { 200: json("The model.", localModelView) },
  errors: ["NOT_FOUND"],
});

export const LOCAL_MODEL_ENDPOINTS: readonly EndpointContract[] = [
  listLocalModelsContract,
  getLocalModelContract,
  pullLocalModelContract,
  cancelLocalModelPullContract,
];
