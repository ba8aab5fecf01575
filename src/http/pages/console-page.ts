// Renders the page GET /console as it is before scripts run. The scripts are in `src/console/`.
import { CONSOLE_STYLE } from "./console-style.ts";
import { CONTROLS } from "./controls-style.ts";
import { escapeHtml, htmlDocument, LOOK } from "./html-page.ts";

export type Listener = "admin" | "public";

export const consoleStyle = (): string => LOOK + CONTROLS + CONSOLE_STYLE;

const WHOSE: Readonly<Record<Listener, string>> = {
  admin:
    "This is the operator's: the whole platform. The operator's key is in <code>data/operator-key</code> where the gateway runs, unless the configuration names others.",
  public:
    "This is a workspace's: its requests, jobs, usage, keys and routes. It takes a key of the role <code>admin</code>, which the operator makes.",
};

/** `script` is the path of the first module, from /console/. `publicUrl` is the URL at which clients reach the gateway. */
export function consoleHtml(script: string, listener: Listener, publicUrl: string): string {
  return htmlDocument({
    title: "Console",
    data: ` data-listener="${listener}" data-public-url="${escapeHtml(publicUrl)}"`,
    head: `<link rel="stylesheet" href="/console/page/style.css">
<script type="module" src="/console/${script}"></script>`,
    body: `<header class="top"><p class="product">Patchbay <span>Console</span></p><p id="waiting" class="soft" role="status"></p></header>
<noscript><p class="notice">This page needs JavaScript. Everything it does the API does: <a href="/openapi.json">its description</a>.</p></noscript>
<form id="sign-in" class="sign-in" hidden><h1>Sign in</h1><p>${WHOSE[listener]}</p>
<label for="key">Your key</label><div class="row"><input id="key" type="password" autocomplete="off" spellcheck="false"><button class="primary">Sign in</button></div>
<p class="soft">It stays in this tab and is sent to this gateway only.</p><div id="sign-in-refusal"></div></form>
<div id="shell" class="shell" hidden>
<div class="side"><button type="button" id="go-to" aria-keyshortcuts="Control+K">Go to … <kbd>Ctrl K</kbd></button>
<label for="workspace">Where</label><select id="workspace"></select>
<nav id="nav" aria-label="Screens"></nav>
<p class="soft"><span id="who"></span> <button type="button" id="sign-out">Sign out</button></p>
<p class="soft" id="zone"></p></div>
<main><h1 id="title" tabindex="-1"></h1><p id="status" role="status"></p><div id="screen"></div></main>
</div>`,
  });
}
