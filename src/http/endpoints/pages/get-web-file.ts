// GET /web/…: the scripts, style sheets and libraries that pages load [console.files].
import { getWebFileContract } from "../../../contract/endpoints/operations.ts";
import { GatewayError } from "../../../contract/errors.ts";
import { createWebFiles, WEB_PAGE_HEADERS, type WebPlaces } from "../../pages/web-files.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { pathParameter } from "../../server/path-parameter.ts";

export function getWebFile(places: WebPlaces): Endpoint {
  const files = createWebFiles(places);
  return {
    contract: getWebFileContract,
    handle: async (context) => {
      const file = files.find(`${pathParameter(context, "folder")}/${pathParameter(context, "file")}`);
      if (file === null) throw new GatewayError("NOT_FOUND", { message: "Unknown file." });
      return { status: 200, headers: WEB_PAGE_HEADERS, body: await file };
    },
  };
}
