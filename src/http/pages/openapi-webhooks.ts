// The completion webhook in OpenAPI: the request that the gateway sends, with its signature headers and an example [api.openapi-webhooks].
import { z } from "zod";
import { completionWebhook } from "../../contract/endpoints/completion-webhook.ts";
import { putSttWebhookContract } from "../../contract/endpoints/endpoint-webhook.ts";
import { tagOf } from "../../contract/endpoints/tags.ts";
import type { Components, Json } from "./openapi-components.ts";

export function webhooksOf(components: Components): Json {
  const { name, operationId, summary, description, body, example, responses } = completionWebhook;
  return {
    [name]: {
      post: {
        operationId,
        tags: [tagOf(putSttWebhookContract).name],
        summary,
        description,
        security: [],
        parameters: signatureHeaders(),
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: components.schema("output", body, operationId), example: example.body },
          },
        },
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, meaning]) => [status, { description: meaning }]),
        ),
      },
    },
  };
}

function signatureHeaders(): readonly Json[] {
  const { headers, example } = completionWebhook;
  const examples: Readonly<Record<string, string>> = example.headers;
  const schema = z.toJSONSchema(headers, { io: "input" });
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = typeof property === "boolean" ? {} : property;
    const value = examples[name];
    return {
      name,
      in: "header",
      required: required.has(name),
      description,
      schema: rest,
      ...(value === undefined ? {} : { example: value }),
    };
  });
}
