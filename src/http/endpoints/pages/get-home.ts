// GET /: three doors (playground, documentation, console), whether transcripts are simulated, and the next step [api.home].
import { getHomeContract, type HomeState } from "../../../contract/endpoints/operations.ts";
import { homeHtml } from "../../pages/home-html.ts";
import type { ModulePlaces } from "../../pages/page-files.ts";
import { WEB_PAGE_HEADERS, webHead } from "../../pages/web-files.ts";
import { chooseMediaType } from "../../reply/choose-format.ts";
import type { Endpoint } from "../../server/endpoint.ts";

const PATHS = { playground: "/playground", docs: "/docs", console: "/console", openapi: "/openapi.json" };
const HTML = "text/html";
const JSON_TYPE = "application/json";

export interface HomeOptions {
  readonly places: ModulePlaces;
  readonly version: string;
  /** Whether a shared connection leads to a real provider. Without a key the page reports no more than that. */
  readonly recognition: () => HomeState["recognition"];
}

export function getHome({ places, version, recognition }: HomeOptions): Endpoint {
  const head = webHead(places, "home");
  return {
    contract: getHomeContract,
    handle: async ({ request }) => {
      const state: HomeState = { name: "patchbay", version, recognition: recognition(), ...PATHS };
      // A page and its JSON have the same address.
      const headers = { ...WEB_PAGE_HEADERS, vary: "accept" };
      if (chooseMediaType(request.headers.accept, [JSON_TYPE, HTML]) !== HTML)
        return { status: 200, headers, body: { json: state } };
      const bytes = Buffer.from(homeHtml(state, head));
      return { status: 200, headers, body: { bytes, contentType: `${HTML}; charset=utf-8` } };
    },
  };
}
