// GET /openapi.json: the document that was generated from the contracts that the server runs on, as the package contains it [api.openapi].
import { readFile } from "node:fs/promises";
import { getOpenapiContract } from "../../../contract/operations.ts";
import type { Endpoint } from "../../server/endpoint.ts";

/** `file`: as `npm run docs` wrote it, and the checks hold it against the contracts; made here, it would hold up the loop for 0.4 s. */
export function getOpenapi(file: string): Endpoint {
  let made: Promise<Buffer> | undefined;
  // As bytes, which every reply shares: of a text each would make its own.
  const read = async (): Promise<Buffer> => Buffer.from(JSON.stringify(JSON.parse(await readFile(file, "utf8"))));
  const bytes = (): Promise<Buffer> => {
    made ??= read().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return {
    contract: getOpenapiContract,
    handle: async () => ({
      status: 200,
      headers: { "cache-control": "public, max-age=300" },
      body: { bytes: await bytes(), contentType: "application/json; charset=utf-8" },
    }),
  };
}
