// Generates the OpenAPI 3.1 document from the zod schemas with which the server validates requests [api.openapi].
import { type EndpointContract, pathTemplate, requiredRole } from "../../contract/endpoints/endpoint.ts";
import { putSttWebhookContract } from "../../contract/endpoints/endpoint-webhook.ts";
import { SCHEMA_NAMES, type SchemaNames } from "../../contract/endpoints/schema-names.ts";
import { TAGS, tagOf } from "../../contract/endpoints/tags.ts";
import { Components, type Json } from "./openapi-components.ts";
import { type OperationExamples, pathExamples, withExample } from "./openapi-examples.ts";
import { parametersOf } from "./openapi-parameters.ts";
import { responsesOf } from "./openapi-responses.ts";
import { webhooksOf } from "./openapi-webhooks.ts";

const VERSION = "1";

export interface OpenapiAbout {
  readonly title: string;
  readonly description: string;
}

const PUBLIC_API: OpenapiAbout = {
  title: "Patchbay",
  description:
    "Self-hosted gateway for speech-to-text and chat. The route of the API key decides which provider and model answers. Commands in examples read `PATCHBAY_URL`, the address of the gateway, `PATCHBAY_API_KEY`, a key of an app, and `ADMIN_KEY`, a key with the role `admin`.",
};
export const ADMIN_API: OpenapiAbout = {
  title: "Patchbay administration",
  description:
    "Administration with operator keys, on the admin listener only. Commands in examples read `PATCHBAY_ADMIN_URL`, the address of that listener, and `OPERATOR_KEY`.",
};

export interface OpenapiOptions {
  readonly about?: OpenapiAbout;
  readonly schemas?: SchemaNames;
  readonly examples?: OperationExamples;
}

export function openapiDocument(
  contracts: readonly EndpointContract[],
  { about = PUBLIC_API, schemas = SCHEMA_NAMES, examples = {} }: OpenapiOptions = {},
): Json {
  const components = new Components(schemas);
  const pathValues = pathExamples(contracts, examples);
  const paths: Record<string, Record<string, Json>> = {};
  for (const contract of contracts) {
    const path = pathTemplate(contract);
    const operations = paths[path] ?? {};
    paths[path] = operations;
    operations[contract.method.toLowerCase()] = withExample(
      operation(contract, components, pathValues),
      contract,
      examples[contract.operationId],
    );
  }
  const tags = TAGS.filter((tag) => contracts.some((contract) => tagOf(contract) === tag));
  const hasWebhook = contracts.includes(putSttWebhookContract);
  return {
    openapi: "3.1.0",
    info: {
      ...about,
      version: VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    ...(hasWebhook ? { webhooks: webhooksOf(components) } : {}),
    components: {
      ...components.toJson(),
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer svc_live_…`." },
      },
    },
  };
}

function operation(
  contract: EndpointContract,
  components: Components,
  pathValues: Readonly<Record<string, string>>,
): Json {
  const parameters = parametersOf(contract, components, pathValues);
  const role = requiredRole(contract);
  return {
    operationId: contract.operationId,
    tags: [tagOf(contract).name],
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    security: contract.auth === "none" ? [] : [{ key: [] }],
    ...(contract.scope === undefined ? {} : { "x-required-scope": contract.scope }),
    ...(role === null ? {} : { "x-required-role": role }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(contract, components),
    responses: responsesOf(contract, components),
  };
}

function requestBodyOf({ operationId, requestBody = {} }: EndpointContract, components: Components): Json {
  const content = Object.fromEntries(
    (
      [
        ["application/json", requestBody.json],
        ["multipart/form-data", requestBody.multipart],
      ] as const
    ).flatMap(([type, schema]) =>
      schema === undefined ? [] : [[type, { schema: components.schema("input", schema, operationId) }]],
    ),
  );
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}
