// Lists the files of `web/` that pages load, and the libraries that those import, which come from the installed packages.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import {
  createPageFiles,
  extensionOf,
  type MakeFile,
  type ModulePlaces,
  type PageFiles,
  styleFile,
} from "./page-files.ts";
import { SCRIPTED_PAGE_HEADERS } from "./html-page.ts";
import { SITE_HEADER_STYLE } from "./site-header.ts";

/** The modules of `web/`. A test compares the list with their imports. */
export const WEB_MODULES = [
  "docs/main",
  "home/main",
  "ui/code-tabs",
  "ui/copy-button",
  "ui/header",
  "ui/html",
  "ui/search-box",
  "ui/search-index",
  "ui/search-words",
  "ui/theme-toggle",
] as const;
const HEADER_STYLE = "ui/site-header.css";
const STYLES = ["ui/ui.css", "docs/docs.css", "home/home.css"] as const;

/** Names that the modules import → the file that is served for it. */
const LIBRARIES = {
  preact: "vendor/preact.js",
  "preact/hooks": "vendor/preact-hooks.js",
  "@preact/signals": "vendor/preact-signals.js",
  "@preact/signals-core": "vendor/preact-signals-core.js",
  htm: "vendor/htm.js",
  minisearch: "vendor/minisearch.js",
  stemmer: "vendor/stemmer.js",
} as const;

const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries(Object.entries(LIBRARIES).map(([name, file]) => [name, `/web/${file}`])),
});
const IMPORT_MAP_HASH = createHash("sha256").update(IMPORT_MAP).digest("base64");

/** Headers of pages that use these files: the import map is the only inline script. */
export const WEB_PAGE_HEADERS = {
  ...SCRIPTED_PAGE_HEADERS,
  "content-security-policy": `default-src 'none'; script-src 'self' 'sha256-${IMPORT_MAP_HASH}'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const;

/** `web` is the directory `web/` of a checkout, or its build output. `styles` is `web/` of the package in both cases. */
export interface WebPlaces extends ModulePlaces {
  readonly styles: string;
}

export function createWebFiles({ styles, ...places }: WebPlaces): PageFiles {
  const style =
    (name: string): MakeFile =>
    async () => ({ bytes: await readFile(join(styles, name)), contentType: "text/css; charset=utf-8" });
  return createPageFiles(places, WEB_MODULES, {
    [HEADER_STYLE]: styleFile(() => SITE_HEADER_STYLE),
    ...Object.fromEntries(STYLES.map((name) => [name, style(name)])),
    ...Object.fromEntries(Object.entries(LIBRARIES).map(([name, file]) => [file, library(name)])),
  });
}

const library =
  (name: string): MakeFile =>
  async () => ({
    bytes: await readFile(fileURLToPath(import.meta.resolve(name))),
    contentType: "text/javascript; charset=utf-8",
  });

/** Markup for the head of the page that is in a folder of `web/`. */
export function webHead(places: ModulePlaces, page: "docs" | "home"): string {
  const links = [HEADER_STYLE, "ui/ui.css", `${page}/${page}.css`].map(
    (name) => `<link rel="stylesheet" href="/web/${name}">`,
  );
  return `${links.join("\n")}
<script type="importmap">${IMPORT_MAP}</script>
<script type="module" src="/web/${page}/main${extensionOf(places)}"></script>`;
}
