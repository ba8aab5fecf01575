// GET /openapi.json (contract 10): the document generated from the very contracts the server runs on.
import type { EndpointContract } from "../../contract/endpoint.ts";
import { getOpenapiContract } from "../../contract/operations.ts";
import type { Endpoint } from "../endpoint.ts";
import { openapiDocument, type OpenapiAbout } from "../openapi.ts";

export function getOpenapi(contracts: readonly EndpointContract[], about?: OpenapiAbout): Endpoint {
  // Made when it is first asked for: few ask, and a start need not wait a tenth of a second for it.
  let made: Buffer | undefined;
  // As bytes, which every reply shares: of a text each would make its own.
  const bytes = () => (made ??= Buffer.from(JSON.stringify(openapiDocument(contracts, about))));
  return {
    contract: getOpenapiContract,
    handle: async () => ({
      status: 200,
      headers: { "cache-control": "public, max-age=300" },
      body: { bytes: bytes(), contentType: "application/json; charset=utf-8" },
    }),
  };
}
