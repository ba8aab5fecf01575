// GET /v1/models and /v1/models/{model}: lists the values of `model` on the compatible endpoints [compatible.models-list].
import type { Principal } from "../../auth/principal.ts";
import {
  getModelContract,
  getModelsContract,
  getPurposeModelContract,
} from "../../contract/endpoints/endpoint-compatible.ts";
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import { GatewayError } from "../../contract/errors.ts";
import type { ListedModel, ModelList } from "../../contract/chat/openai-compatible.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { suggest } from "../../lib/text/suggest.ts";
import { listedModels } from "../compatible/listed-models.ts";
import { modelOfPurpose } from "../compatible/model-purpose.ts";
import { type Endpoint, type HandlerContext, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";

type Gateway = Pick<GatewayServices, "directory">;

export function getModels(gateway: Gateway): Endpoint<Principal> {
  return {
    contract: getModelsContract,
    handle: async (context) => {
      const json: ModelList = { object: "list", data: listedModels(gateway, principalOf(context)) };
      return { status: 200, body: { json } };
    },
  };
}

export function getModel(gateway: Gateway): Endpoint<Principal> {
  return modelEndpoint(gateway, getModelContract, (context) => pathParameter(context, "model"));
}

/** The id contains a slash, which most clients send unescaped. */
export function getPurposeModel(gateway: Gateway): Endpoint<Principal> {
  return modelEndpoint(gateway, getPurposeModelContract, (context) =>
    modelOfPurpose(pathParameter(context, "purpose")),
  );
}

function modelEndpoint(
  gateway: Gateway,
  contract: EndpointContract,
  idOf: (context: Pick<HandlerContext, "request">) => string,
): Endpoint<Principal> {
  return {
    contract,
    handle: async (context) => {
      const id = idOf(context);
      const listed = listedModels(gateway, principalOf(context));
      const json: ListedModel | undefined = listed.find((each) => each.id === id);
      if (json !== undefined) return { status: 200, body: { json } };
      const suggestion = suggest(
        id,
        listed.map((each) => each.id),
      );
      const question = suggestion === undefined ? "" : ` Did you mean \`${suggestion}\`?`;
      throw new GatewayError("NOT_FOUND", {
        message: `The model does not exist, or you do not have access to it.${question} GET /v1/models lists the available models.`,
        param: "model",
      });
    },
  };
}
