// /admin/v1/local-models: models that run on this machine, and their pulls [local-models.admin].
import { cancelModelPull, describeLocalModel, listLocalModels, startModelPull } from "../../admin/local-models.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  cancelLocalModelPullContract,
  getLocalModelContract,
  listLocalModelsContract,
  localModelPullRequest,
  pullLocalModelContract,
} from "../../contract/admin/local-models.ts";
import { readFields } from "../body/read-fields.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import type { AdminEdge } from "./frame.ts";

const NAME = "model_name";

export function localModelEndpoints({ localModels }: AdminEdge): readonly Endpoint<Principal>[] {
  return [
    {
      contract: listLocalModelsContract,
      handle: async () => ({
        status: 200,
        body: { json: { object: "list", data: await listLocalModels(localModels), next_cursor: null } },
      }),
    },
    {
      contract: getLocalModelContract,
      handle: async (context) => ({
        status: 200,
        body: { json: await describeLocalModel(localModels, pathParameter(context, NAME)) },
      }),
    },
    {
      contract: pullLocalModelContract,
      handle: async (context) => {
        const { licence } = await readFields(context.request, localModelPullRequest);
        const ref = { actor: principalOf(context).key.id, name: pathParameter(context, NAME) };
        return { status: 202, body: { json: await startModelPull(localModels, ref, licence) } };
      },
    },
    {
      contract: cancelLocalModelPullContract,
      handle: async (context) => ({
        status: 200,
        body: { json: await cancelModelPull(localModels, pathParameter(context, NAME)) },
      }),
    },
  ];
}
