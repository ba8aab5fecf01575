// GET /playground and the files that its page loads: tries the API in a browser, with any key [console.files].
import {
  getPlaygroundContract,
  getPlaygroundFileContract,
  getPlaygroundModuleContract,
} from "../../../contract/endpoints/operations.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { createPlaygroundFiles, type PlaygroundPlaces } from "../../pages/playground-files.ts";
import { playgroundHtml } from "../../pages/playground-page.ts";
import { scriptedPage } from "../../pages/scripted-page.ts";

export function getPlayground(places: PlaygroundPlaces): readonly Endpoint[] {
  const files = createPlaygroundFiles(places);
  return scriptedPage({
    page: getPlaygroundContract,
    file: getPlaygroundFileContract,
    module: getPlaygroundModuleContract,
    html: () => playgroundHtml(files.main),
    files,
  });
}
