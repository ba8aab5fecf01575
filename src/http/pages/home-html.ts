// Renders the page GET /.
import type { HomeState } from "../../contract/endpoints/operations.ts";
import { htmlDocument } from "./html-page.ts";
import { SEARCH_AND_THEME, siteHeader } from "./site-header.ts";

const STATES: Readonly<Record<HomeState["recognition"], string>> = {
  simulated:
    'Transcripts are <b>simulated</b>: no provider is connected yet. Next step: <a href="/docs/connections-and-routes">connect a provider</a>.',
  provider:
    'A provider is <b>connected</b>. Next step: <a href="/docs/api#first-requests">send a first request</a> with an API key.',
};

export function homeHtml(state: HomeState, head: string): string {
  return htmlDocument({
    title: "Gateway for speech-to-text and chat",
    head,
    body: `<a class="skip" href="#text">Skip to the text</a>
${siteHeader({ current: "/", tools: SEARCH_AND_THEME })}
<main id="text" class="home">
<h1>Patchbay</h1>
<p class="lead">A gateway for speech-to-text and chat. The route of your API key selects provider and model.</p>
<p class="state" role="status">${STATES[state.recognition]}</p>
<ul class="doors">
<li><a href="/playground"><b>Playground</b><span>Transcribe a recording in the browser and see how it was routed.</span></a></li>
<li><a href="/docs"><b>Documentation</b><span>Guides for developers, operators and administrators, with search.</span></a></li>
<li><a href="/console"><b>Console</b><span>Requests, usage, keys and budgets of your workspace.</span></a></li>
</ul>
</main>`,
  });
}
