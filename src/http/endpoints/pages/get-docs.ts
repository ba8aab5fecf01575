// GET /docs and the pages below it: the documentation, the API reference, and the index of their search [api.docs].
import {
  getDocsContract,
  getDocsPageContract,
  getDocsSearchContract,
  getDocsSectionPageContract,
  getDocsSlashContract,
  getErrorDocsContract,
} from "../../../contract/endpoints/operations.ts";
import { GatewayError } from "../../../contract/errors.ts";
import type { Documentation } from "../../pages/docs/documentation.ts";
import { documentationHtml } from "../../pages/docs/documentation-html.ts";
import { WEB_PAGE_HEADERS, webHead } from "../../pages/web-files.ts";
import type { ModulePlaces } from "../../pages/page-files.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { pathParameter } from "../../server/path-parameter.ts";

export function getDocs(documentation: Documentation, places: ModulePlaces): readonly Endpoint[] {
  const head = webHead(places, "docs");
  const makePage = async (path: string): Promise<Buffer | null> => {
    const page = await documentation.render(path);
    return page && Buffer.from(documentationHtml({ page, path, navigation: await documentation.list(), head }));
  };
  const pages = createCache(makePage);
  const search = createCache(async () => Buffer.from(JSON.stringify(await documentation.searchSections())));
  const reply = async (path: string) => {
    const bytes = await pages(path);
    if (bytes === null)
      throw new GatewayError("NOT_FOUND", { message: "There is no such page. GET /docs lists all pages." });
    return { status: 200, headers: WEB_PAGE_HEADERS, body: { bytes, contentType: "text/html; charset=utf-8" } };
  };
  return [
    { contract: getDocsContract, handle: () => reply("/docs") },
    { contract: getDocsSlashContract, handle: () => reply("/docs") },
    { contract: getErrorDocsContract, handle: () => reply("/docs/errors") },
    { contract: getDocsPageContract, handle: (context) => reply(`/docs/${pathParameter(context, "page")}`) },
    {
      contract: getDocsSectionPageContract,
      handle: (context) => reply(`/docs/${pathParameter(context, "section")}/${pathParameter(context, "page")}`),
    },
    {
      contract: getDocsSearchContract,
      handle: async () => ({
        status: 200,
        headers: { "cache-control": "no-cache", "x-content-type-options": "nosniff" },
        body: { bytes: await search(""), contentType: "application/json; charset=utf-8" },
      }),
    },
  ];
}

/** Keeps what was made, so that replies share its bytes. Pages that do not exist and failures are not kept. */
function createCache<T extends Buffer | null>(make: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return async (path) => {
    const made = kept.get(path) ?? make(path);
    kept.set(path, made);
    const result = await made.catch((error: unknown) => {
      kept.delete(path);
      throw error;
    });
    if (result === null) kept.delete(path);
    return result;
  };
}
