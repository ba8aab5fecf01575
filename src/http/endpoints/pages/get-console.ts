// GET /console and the files that its page loads: administration in a browser, on either listener [console.files].
import {
  getConsoleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
} from "../../../contract/endpoints/operations.ts";
import { CONSOLE_MODULES } from "../../pages/console-modules.ts";
import { consoleHtml, consoleStyle, type Listener } from "../../pages/console-page.ts";
import type { Endpoint } from "../../server/endpoint.ts";
import { createPageFiles, extensionOf, type ModulePlaces, styleFile } from "../../pages/page-files.ts";
import { scriptedPage } from "../../pages/scripted-page.ts";

export function getConsole(places: ModulePlaces, listener: Listener, publicUrl: () => string): readonly Endpoint[] {
  return scriptedPage({
    page: getConsoleContract,
    file: getConsoleFileContract,
    module: getConsoleModuleContract,
    html: () => consoleHtml(`console/main${extensionOf(places)}`, listener, publicUrl()),
    files: createPageFiles(places, CONSOLE_MODULES, { "page/style.css": styleFile(consoleStyle) }),
  });
}
