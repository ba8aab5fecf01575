// Renders the page GET /console as it is before scripts run. The scripts are in `src/console/`.
import { CONSOLE_STYLE } from "./console-style.ts";
import { CONTROLS } from "./controls-style.ts";
import { escapeHtml, htmlDocument, LOOK } from "./html-page.ts";
import { SITE_HEADER_STYLE, siteHeader } from "./site-header.ts";

export type Listener = "admin" | "public";

export const consoleStyle = (): string => LOOK + SITE_HEADER_STYLE + CONTROLS + CONSOLE_STYLE;

const SIGN_IN_HINTS: Readonly<Record<Listener, string>> = {
  admin:
    "Operator console for all workspaces. The operator key is in <code>data/operator-key</code> in the gateway's directory, unless the configuration sets another one.",
  public:
    "Workspace console for requests, jobs, usage, keys and routes. Sign in with a key with the role <code>admin</code>, created by the operator.",
};

/** `script` is the path of the first module, from /console/. `publicUrl` is the URL at which clients reach the gateway. */
export function consoleHtml(script: string, listener: Listener, publicUrl: string): string {
  return htmlDocument({
    title: "Console",
    data: ` data-listener="${listener}" data-public-url="${escapeHtml(publicUrl)}"`,
    head: `<link rel="stylesheet" href="/console/page/style.css">
<script type="module" src="/console/${script}"></script>`,
    body: `${siteHeader({
      current: "/console",
      origin: listener === "admin" ? publicUrl : "",
      tools: '<p id="waiting" class="soft" role="status"></p>',
    })}
<noscript><p class="notice">This page needs JavaScript. The API offers the same functions: see its <a href="/openapi.json">OpenAPI description</a>.</p></noscript>
<form id="sign-in" class="sign-in" hidden><h1>Sign in</h1><p>${SIGN_IN_HINTS[listener]}</p>
<label for="key">Your key</label><div class="row"><input id="key" type="password" autocomplete="off" spellcheck="false"><button class="primary">Sign in</button></div>
<p class="soft">Stored in this tab only and sent to this gateway only.</p><div id="sign-in-refusal"></div></form>
<div id="shell" class="shell" hidden>
<div class="side"><button type="button" id="go-to" aria-keyshortcuts="Control+K">Go to … <kbd>Ctrl K</kbd></button>
<label for="workspace">Workspace</label><select id="workspace"></select>
<nav id="nav" aria-label="Screens"></nav>
<p class="soft"><span id="who"></span> <button type="button" id="sign-out">Sign out</button></p>
<p class="soft" id="zone"></p></div>
<main><h1 id="title" tabindex="-1"></h1><p id="status" role="status"></p><div id="screen"></div></main>
</div>`,
  });
}
