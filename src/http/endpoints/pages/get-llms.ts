// GET /llms.txt: the listener's endpoints, for programs that read documentation [api.docs].
import type { EndpointContract } from "../../../contract/endpoints/endpoint.ts";
import { getLlmsContract } from "../../../contract/endpoints/operations.ts";
import { endpointsText } from "../../pages/docs-llms.ts";
import type { Endpoint } from "../../server/endpoint.ts";

export function getLlms(contracts: readonly EndpointContract[]): Endpoint {
  let cached: Buffer | undefined;
  const bytes = () => (cached ??= Buffer.from(endpointsText(contracts)));
  return {
    contract: getLlmsContract,
    handle: async () => ({
      status: 200,
      headers: { "cache-control": "public, max-age=300", "x-content-type-options": "nosniff" },
      body: { bytes: bytes(), contentType: "text/plain; charset=utf-8" },
    }),
  };
}
