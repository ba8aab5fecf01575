// GET /workspace/{tenant_id}/models (spec 1.10; contract 6).
import { listModels, type ModelListServices } from "../../admin/list-models.ts";
import type { Principal } from "../../auth/principal.ts";
import { getWorkspaceModelsContract } from "../../contract/workspace-models.ts";
import type { Endpoint } from "../endpoint.ts";
import { type RequireAdmin, workspaceAdmin } from "../workspace-admin.ts";

export interface ModelListEdge {
  readonly requireAdmin: RequireAdmin;
  readonly models: ModelListServices;
}

export function getWorkspaceModels({ requireAdmin, models }: ModelListEdge): Endpoint<Principal> {
  return {
    contract: getWorkspaceModelsContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      return { status: 200, body: { json: await listModels(models, workspaceId) } };
    },
  };
}
