// GET /docs/errors of the admin listener, which serves no other documentation: the error reference to which every `doc_url` links [errors.doc-url].
import { getErrorDocsContract } from "../../../contract/endpoints/operations.ts";
import { errorsHtml } from "../../pages/docs-errors.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { PAGE_HEADERS } from "../../pages/html-page.ts";

export function getErrorDocs(): Endpoint {
  const bytes = Buffer.from(errorsHtml());
  return {
    contract: getErrorDocsContract,
    handle: async () => ({
      status: 200,
      headers: PAGE_HEADERS,
      body: { bytes, contentType: "text/html; charset=utf-8" },
    }),
  };
}
