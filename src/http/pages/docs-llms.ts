// Renders the text /llms.txt: the contents of /docs/api as a list of links, for programs that read documentation [api.docs].
import { type EndpointContract, pathTemplate } from "../../contract/endpoints/endpoint.ts";
import { tagOf } from "../../contract/endpoints/tags.ts";
import { referencePath } from "./docs/api-reference.ts";
import { FIRST_REQUESTS, FIRST_VARIABLES } from "./first-requests.ts";

const ABOUT =
  "A gateway for speech-to-text and chat. The route of the API key picks provider and model: `model` and `provider` are not sent. What is asked for is delivered or refused with a reason. Every request but those for documentation and health has `Authorization: Bearer <key>`.";

export function endpointsText(contracts: readonly EndpointContract[]): string {
  const examples = FIRST_REQUESTS.map(({ title, language, code }) => `${title}:\n\n\`\`\`${language}\n${code}\n\`\`\``);
  const endpoints = contracts.map(
    (contract) =>
      `- [${contract.method} ${pathTemplate(contract)}](${referencePath(tagOf(contract).name)}#${contract.operationId}): ${contract.summary}`,
  );
  return `# Patchbay

> ${ABOUT}

- [Documentation](/docs): guides and rules
- [OpenAPI 3.1](/openapi.json): every field of every request and answer
- [Errors](/docs/errors): what each code means, whether to retry, what to do

## First requests

${FIRST_VARIABLES}

${examples.join("\n\n")}

## Endpoints

${endpoints.join("\n")}
`;
}
