// GET /v1/models (contract 8): exactly what `model` may be on the compatible endpoints.
import type { Principal } from "../../auth/principal.ts";
import { getModelsContract } from "../../contract/endpoint-compatible.ts";
import type { ModelList } from "../../contract/openai-compatible.ts";
import { describeKey } from "../../gateway/describe-key.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { modelOfPurpose } from "../compatible/model-purpose.ts";
import { type Endpoint, principalOf } from "../endpoint.ts";

export function getModels(gateway: Pick<GatewayServices, "directory">): Endpoint<Principal> {
  return {
    contract: getModelsContract,
    handle: async (context) => {
      const principal = principalOf(context);
      const { workspace, app, key } = principal;
      const routing = app === null ? null : gateway.directory().contextOf(workspace.id, app, key.routing);
      const { purposes } = describeKey(principal, routing);
      const labels = purposes.flatMap(({ purpose, is_enabled }) => (is_enabled ? [modelOfPurpose(purpose)] : []));
      const created = Math.floor(key.createdAt.getTime() / 1000);
      const json: ModelList = {
        object: "list",
        data: ["auto", ...labels].map((id) => ({ id, object: "model", created, owned_by: "patchbay" })),
      };
      return { status: 200, body: { json } };
    },
  };
}
