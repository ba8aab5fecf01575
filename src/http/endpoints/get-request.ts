// GET /v1/requests/{request_id}: returns a request record of the key's app [requests.same-app].
import type { Principal } from "../../auth/principal.ts";
import { getRequestContract } from "../../contract/requests.ts";
import { findRequest, type RecordServices } from "../../requests/describe.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";

export function getRequest(services: RecordServices): Endpoint<Principal> {
  return {
    contract: getRequestContract,
    handle: async (context) => {
      const record = await findRequest(services, principalOf(context), pathParameter(context, "request_id"));
      return { status: 200, body: { json: record } };
    },
  };
}
