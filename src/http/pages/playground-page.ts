// Renders the page GET /playground as it is before scripts run. The scripts are in `src/playground/`.
import { CONTROLS } from "./controls-style.ts";
import { htmlDocument, LOOK } from "./html-page.ts";
import { optionsHtml } from "./playground-form.ts";
import { PLAYGROUND_STYLE } from "./playground-style.ts";
import { SITE_HEADER_STYLE, siteHeader } from "./site-header.ts";

export const playgroundStyle = (): string => LOOK + SITE_HEADER_STYLE + CONTROLS + PLAYGROUND_STYLE;

/** `script` is the path of the first module, from /playground/. */
export function playgroundHtml(script: string): string {
  return htmlDocument({
    title: "Playground",
    head: `<link rel="stylesheet" href="/playground/page/style.css">
<script type="module" src="/playground/${script}"></script>`,
    body: `${siteHeader({ current: "/playground" })}
<main>
<h1>Playground</h1>
<p>Speech to text through this gateway's API, with your key: the transcript and its routing.</p>
<noscript><p class="notice">This page needs JavaScript. The API offers the same functions: <a href="/docs/api#first-requests">first requests</a>.</p></noscript>
<div class="columns">
<div class="ask">
<section aria-labelledby="key-title"><h2 id="key-title">Key</h2>
<form id="key-form"><label for="key">Your API key</label>
<div class="row"><input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-status"><button>Use key</button></div></form>
<div id="key-status" role="status"></div></section>
<section aria-labelledby="audio-title" id="drop"><h2 id="audio-title">Audio</h2>
<div class="row wrap"><button type="button" id="use-sample">Bundled sample</button>
<label class="button" for="file">Choose a file<input type="file" id="file" accept="audio/*,video/mp4,video/webm,.mpga"></label>
<button type="button" id="record">Record</button></div>
<p class="soft">or drop a file here, or let the gateway fetch one:</p>
<form id="url-form"><label for="url">https address</label>
<div class="row"><input id="url" type="url" placeholder="https://…" autocomplete="off"><button>Use address</button></div></form>
<p id="audio-status" role="status"></p></section>
<section aria-labelledby="options-title"><h2 id="options-title">Options</h2>
<p class="soft">Options are part of the page's URL. The key and the audio are not.</p>
<form id="options">
${optionsHtml()}
</form></section>
<section aria-labelledby="compare-title"><details id="compare"><summary id="compare-title">Compare with another purpose</summary>
<p class="soft">Transcribes the same recording with two purposes and shows the results side by side. Both calls are charged. The expected cost is shown first.</p>
<div class="field"><label for="compare-with">Other purpose</label><select id="compare-with"></select></div>
<div class="row wrap"><button type="button" id="compare-run">Compare</button></div>
<p id="compare-status" role="status"></p></details></section>
<div class="run"><button type="button" id="run" class="primary">Transcribe</button>
<button type="button" id="explain">Dry run</button>
<button type="button" id="cancel" hidden>Cancel</button>
<p id="progress" role="status"></p></div>
</div>
<div class="answer">
<div><section id="listen" aria-label="Player" class="listen"><audio id="player" controls preload="auto"></audio>
<div class="row wrap"><label><input type="checkbox" id="follow" checked> Follow playback</label>
<button type="button" id="show-keys" aria-haspopup="dialog">Keys (?)</button>
<label class="button quiet" for="saved">Open saved JSON<input type="file" id="saved" accept=".json,application/json"></label></div></section>
<div id="result"><section class="empty"><h2>No transcript yet</h2><p>Choose audio and press Transcribe. The words appear here, in sync with the audio. You can also open a transcript saved as JSON, with your own copy of the recording.</p></section></div></div>
<div id="trace"></div>
<section aria-labelledby="code-title"><h2 id="code-title">This request as code</h2><div id="code"></div></section>
</div>
</div>
</main>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys, while the player or the transcript is in focus</h2>
<dl><dt><kbd>space</kbd> <kbd>k</kbd></dt><dd>play or pause</dd><dt><kbd>j</kbd> <kbd>l</kbd></dt><dd>5 seconds back, ahead</dd>
<dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>word by word; in a comparison, from difference to difference</dd><dt><kbd>Enter</kbd></dt><dd>play from this word</dd>
<dt><kbd>?</kbd></dt><dd>this list; <kbd>Esc</kbd> closes it</dd></dl>
<form method="dialog"><button>Close</button></form></dialog>`,
  });
}
