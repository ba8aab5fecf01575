// GET /openapi.json: returns the OpenAPI document that was generated from the server's contracts and is part of the package [api.openapi].
import { readFile } from "node:fs/promises";
import { getOpenapiContract } from "../../../contract/endpoints/operations.ts";
import type { Endpoint } from "../../server/endpoint.ts";

/** `file` is written by `npm run docs`, and a check compares it with the contracts. Generating it here would block the event loop for 0.4 s. */
export function getOpenapi(file: string): Endpoint {
  let cached: Promise<Buffer> | undefined;
  // Stored as bytes, which all replies share. With text, each reply would create its own bytes.
  const read = async (): Promise<Buffer> => Buffer.from(JSON.stringify(JSON.parse(await readFile(file, "utf8"))));
  const bytes = (): Promise<Buffer> => {
    cached ??= read().catch((error: unknown) => {
      cached = undefined;
      throw error;
    });
    return cached;
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
