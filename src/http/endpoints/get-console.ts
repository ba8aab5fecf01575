// GET /console and what its page loads: the administration in a browser, on either listener [console.files].
import { getConsoleContract, getConsoleFileContract, getConsoleModuleContract } from "../../contract/operations.ts";
import { CONSOLE_MODULES } from "../console-modules.ts";
import { consoleHtml, consoleStyle, type Listener } from "../console-page.ts";
import type { Endpoint } from "../endpoint.ts";
import { createPageFiles, extensionOf, type ModulePlaces, styleFile } from "../page-files.ts";
import { scriptedPage } from "../scripted-page.ts";

export function getConsole(places: ModulePlaces, listener: Listener, publicUrl: () => string): readonly Endpoint[] {
  return scriptedPage({
    page: getConsoleContract,
    file: getConsoleFileContract,
    module: getConsoleModuleContract,
    html: () => consoleHtml(`console/main${extensionOf(places)}`, listener, publicUrl()),
    files: createPageFiles(places, CONSOLE_MODULES, { "page/style.css": styleFile(consoleStyle) }),
  });
}
