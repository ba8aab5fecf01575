// GET …/models: lists the models that routes can use [providers.model-list].
import { listModels } from "../../admin/connections/list-models.ts";
import { getModelsContracts } from "../../contract/admin/workspace-models.ts";
import { everywhereEndpoint, type EverywhereEndpoint } from "./owner-endpoints.ts";
import type { AdminEdge } from "./frame.ts";

export function modelsEndpoint(edge: AdminEdge): EverywhereEndpoint {
  return everywhereEndpoint(edge, getModelsContracts, async (_context, { scope }) => ({
    status: 200,
    body: { json: await listModels(edge.models, scope) },
  }));
}
