// GET /docs/errors (contract 1): where every `doc_url` points.
import { getErrorDocsContract } from "../../contract/operations.ts";
import { errorsHtml } from "../docs-errors.ts";
import type { Endpoint } from "../endpoint.ts";

export function getErrorDocs(): Endpoint {
  const text = errorsHtml();
  return {
    contract: getErrorDocsContract,
    handle: async () => ({
      status: 200,
      headers: {
        "cache-control": "public, max-age=300",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        "x-content-type-options": "nosniff",
      },
      body: { text, contentType: "text/html; charset=utf-8" },
    }),
  };
}
