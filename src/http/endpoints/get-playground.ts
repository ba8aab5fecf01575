// GET /playground and what its page loads (contract 10): the API in a browser, for whoever has a key.
import { GatewayError } from "../../contract/errors.ts";
import { getPlaygroundContract, getPlaygroundFileContract } from "../../contract/operations.ts";
import type { Endpoint } from "../endpoint.ts";
import { pathParameter } from "../path-parameter.ts";
import { createPlaygroundFiles, type PlaygroundPlaces } from "../playground-files.ts";
import { PLAYGROUND_HEADERS, playgroundHtml } from "../playground-page.ts";

export function getPlayground(places: PlaygroundPlaces): readonly Endpoint[] {
  const files = createPlaygroundFiles(places);
  let page: Buffer | undefined;
  const bytes = () => (page ??= Buffer.from(playgroundHtml(files.main)));
  return [
    {
      contract: getPlaygroundContract,
      handle: async () => ({
        status: 200,
        headers: PLAYGROUND_HEADERS,
        body: { bytes: bytes(), contentType: "text/html; charset=utf-8" },
      }),
    },
    {
      contract: getPlaygroundFileContract,
      handle: async (context) => {
        const file = files.find(`${pathParameter(context, "folder")}/${pathParameter(context, "file")}`);
        if (file === null) throw new GatewayError("NOT_FOUND", { message: "The playground has no such file." });
        return { status: 200, headers: PLAYGROUND_HEADERS, body: await file };
      },
    },
  ];
}
