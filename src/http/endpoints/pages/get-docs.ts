// GET /docs: the listener's endpoints, for people [api.docs].
import type { EndpointContract } from "../../../contract/endpoints/endpoint.ts";
import { getDocsContract } from "../../../contract/endpoints/operations.ts";
import { endpointsHtml } from "../../pages/docs-endpoints.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { PAGE_HEADERS } from "../../pages/html-page.ts";

export function getDocs(contracts: readonly EndpointContract[]): Endpoint {
  // Rendered on the first request.
  let cached: Buffer | undefined;
  const bytes = () => (cached ??= Buffer.from(endpointsHtml(contracts)));
  return {
    contract: getDocsContract,
    handle: async () => ({
      status: 200,
      headers: PAGE_HEADERS,
      body: { bytes: bytes(), contentType: "text/html; charset=utf-8" },
    }),
  };
}
