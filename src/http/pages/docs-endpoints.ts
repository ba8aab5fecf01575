// Renders the page /docs: a short entry for each endpoint of the listener, generated from the contracts that the server uses [api.docs].
import { type EndpointContract, errorsOf, pathTemplate } from "../../contract/endpoints/endpoint.ts";
import { FIRST_REQUESTS, FIRST_VARIABLES } from "./first-requests.ts";
import { escapeHtml, htmlPage, prose } from "./html-page.ts";

const INTRO =
  "Every endpoint of this gateway. The whole of it, with each field of each body, is the OpenAPI 3.1 document at `/openapi.json`; what an error means and what to do about it is at `/docs/errors`. Send the API key as `Authorization: Bearer <key>`.";
const ALSO = ["/playground", "/openapi.json", "/docs/errors", "/llms.txt"].map(
  (path) => `<li><a href="${path}"><code>${path}</code></a></li>`,
);

export function endpointsHtml(contracts: readonly EndpointContract[]): string {
  return htmlPage({
    title: "API",
    intro: INTRO,
    firstSections: [firstRequests()],
    navLabel: "Endpoints",
    links: [...ALSO, ...contracts.map(linkTo)],
    sections: contracts.map(sectionOf),
  });
}

function firstRequests(): string {
  const examples = FIRST_REQUESTS.map(
    ({ title, code }) => `<p>${prose(title)}:</p>\n<pre><code>${escapeHtml(code)}</code></pre>`,
  );
  return `<section id="first-requests">
<h2><a href="#first-requests">First requests</a></h2>
<p>${prose(FIRST_VARIABLES)}</p>
${examples.join("\n")}
</section>`;
}

function linkTo(contract: EndpointContract): string {
  const { method, operationId } = contract;
  return `<li><a href="#${operationId}"><code>${method} ${escapeHtml(pathTemplate(contract))}</code></a></li>`;
}

function sectionOf(contract: EndpointContract): string {
  const { method, operationId, summary, description, auth, scope } = contract;
  const key = auth === "none" ? "no key" : scope === undefined ? "any key" : `a key with the scope ${scope}`;
  const errors = errorsOf(contract).map((code) => `<a href="/docs/errors#${code}"><code>${code}</code></a>`);
  return `<section id="${operationId}">
<h2><a href="#${operationId}"><code>${method} ${escapeHtml(pathTemplate(contract))}</code></a></h2>
<p>${prose(summary)}.${description === undefined ? "" : ` ${prose(description)}`}</p>
<p class="facts"><span>${key}</span> <span>${Object.keys(contract.responses).join(", ")}</span></p>
<p class="facts">${errors.join(" ")}</p>
</section>`;
}
