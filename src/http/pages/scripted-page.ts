// Creates the three endpoints of a browser page with scripts: the page, its modules, and its other files.
import type { EndpointContract } from "../../contract/endpoints/endpoint.ts";
import { GatewayError } from "../../contract/errors.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { SCRIPTED_PAGE_HEADERS } from "./html-page.ts";
import type { PageFiles } from "./page-files.ts";
import { pathParameter } from "../server/path-parameter.ts";

export interface ScriptedPage {
  readonly page: EndpointContract;
  /** The path ends in `/:folder/:file`. */
  readonly file: EndpointContract;
  /** The path ends in `/:folder/:subfolder/:file`. */
  readonly module: EndpointContract;
  readonly html: () => string;
  readonly files: PageFiles;
}

export function scriptedPage({ page, file, module, html, files }: ScriptedPage): readonly Endpoint[] {
  let cachedPage: Buffer | undefined;
  const bytes = () => (cachedPage ??= Buffer.from(html()));
  const serve =
    (parameters: readonly string[]): Endpoint["handle"] =>
    async (context) => {
      const pageFile = files.find(parameters.map((name) => pathParameter(context, name)).join("/"));
      if (pageFile === null) throw new GatewayError("NOT_FOUND", { message: "Unknown file." });
      return { status: 200, headers: SCRIPTED_PAGE_HEADERS, body: await pageFile };
    };
  return [
    {
      contract: page,
      handle: async () => ({
        status: 200,
        headers: SCRIPTED_PAGE_HEADERS,
        body: { bytes: bytes(), contentType: "text/html; charset=utf-8" },
      }),
    },
    { contract: file, handle: serve(["folder", "file"]) },
    { contract: module, handle: serve(["folder", "subfolder", "file"]) },
  ];
}
