// Generates the OpenAPI 3.1 document from the zod schemas with which the server validates requests [api.openapi].
import { z } from "zod";
import {
  type EndpointContract,
  errorsOf,
  isLimited,
  pathParameters,
  pathTemplate,
  type ResponseContract,
} from "../../contract/endpoints/endpoint.ts";
import { errorBody, problemBody } from "../../contract/error-body.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { routingDecision, segment, transcriptionEnvelope, warning, word } from "../../contract/transcription.ts";
import { Components } from "./openapi-components.ts";

type Json = Record<string, unknown>;

const VERSION = "1";

export interface OpenapiAbout {
  readonly title: string;
  readonly description: string;
}

const PUBLIC_API: OpenapiAbout = {
  title: "Patchbay",
  description:
    "Self-hosted gateway for speech-to-text and chat. The route of the API key decides which provider and model answers.",
};
export const ADMIN_API: OpenapiAbout = {
  title: "Patchbay administration",
  description: "Administration with operator keys, on the admin listener only.",
};

/** Parts of several responses, or of a union, that readers look for by name. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  Transcription: transcriptionEnvelope,
  RoutingDecision: routingDecision,
  Segment: segment,
  Word: word,
  Warning: warning,
};

/** `about` is the title and description of the document. */
export function openapiDocument(contracts: readonly EndpointContract[], about: OpenapiAbout = PUBLIC_API): Json {
  const schemas = new Components();
  for (const [name, schema] of Object.entries(NAMED)) schemas.output(schema, name);
  const paths: Record<string, Json> = {};
  for (const contract of contracts) {
    const path = pathTemplate(contract);
    const operations = paths[path] ?? {};
    paths[path] = operations;
    operations[contract.method.toLowerCase()] = operation(contract, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      ...about,
      version: VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: schemas.toJson(),
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer svc_live_…`." },
      },
      headers: {
        "X-Request-Id": { description: "Id of this request in logs and records.", schema: { type: "string" } },
        "X-Should-Retry": {
          description: "Whether the same request may succeed later.",
          schema: { type: "string", enum: ["true", "false"] },
        },
        "Retry-After": { description: "Seconds; only when retryable.", schema: { type: "integer", minimum: 0 } },
        "RateLimit-Policy": {
          description:
            "The quotas of the key and its app; of each kind, the one with less remaining: `requests`, `audio-seconds`, `tokens`, `concurrent`. Absent without a quota. With 429, the exceeded quota.",
          schema: { type: "string", examples: ['"requests";q=600;w=60, "tokens";q=90000;w=60;qu="tokens"'] },
        },
        RateLimit: {
          description:
            "Remaining quota (`r`) and seconds until more is available (`t`). An estimate of this process: other processes may have used some of it.",
          schema: { type: "string", examples: ['"requests";r=599;t=60, "tokens";r=88000;t=41'] },
        },
      },
    },
  };
}

function operation(contract: EndpointContract, schemas: Components): Json {
  const name = `${contract.operationId.charAt(0).toUpperCase()}${contract.operationId.slice(1)}`;
  const parameters = [
    ...pathParameters(contract).map((parameter) => ({
      name: parameter,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    ...parametersOf("query", contract.query),
    ...parametersOf("header", contract.headers),
  ];
  return {
    operationId: contract.operationId,
    summary: contract.summary,
    ...(contract.description === undefined ? {} : { description: contract.description }),
    security: contract.auth === "none" ? [] : [{ key: [] }],
    ...(contract.scope === undefined ? {} : { "x-required-scope": contract.scope }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(contract, name, schemas),
    responses: responsesOf(contract, name, schemas),
  };
}

function parametersOf(place: "query" | "header", object: z.ZodObject | undefined): Json[] {
  if (object === undefined) return [];
  const schema = z.toJSONSchema(object, { io: "input", unrepresentable: "any" });
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = typeof property === "boolean" ? {} : property;
    const isRequired = required.has(name);
    return {
      name,
      in: place,
      required: isRequired,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function requestBodyOf(contract: EndpointContract, name: string, schemas: Components): Json {
  const { json, multipart } = contract.requestBody ?? {};
  const content: Json = {};
  if (json !== undefined) content["application/json"] = { schema: schemas.input(json, `${name}Request`) };
  if (multipart !== undefined) content["multipart/form-data"] = { schema: schemas.input(multipart, `${name}Form`) };
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}

function responsesOf(contract: EndpointContract, name: string, schemas: Components): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(contract)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const limits = isLimited(contract) ? ["RateLimit-Policy", "RateLimit"] : [];
  const entries: [string, Json][] = Object.entries(contract.responses).map(([status, response]) => [
    status,
    withHeaders(success(response, `${name}Response${status === "200" ? "" : status}`, schemas), limits),
  ]);
  for (const [status, codes] of byStatus) {
    const failure = withHeaders(errorResponse(codes, schemas), status === 401 ? [] : limits);
    const same = entries.find(([taken]) => taken === String(status));
    if (same === undefined) entries.push([String(status), failure]);
    else same[1] = merge(same[1], failure);
  }
  return Object.fromEntries(entries.toSorted(([left], [right]) => Number(left) - Number(right)));
}

function success(response: ResponseContract, name: string, schemas: Components): Json {
  const content = Object.entries(response.content).map(([type, schema]) => [
    type,
    { schema: schemas.output(schema, name) },
  ]);
  const documented = Object.entries(response.headers ?? {}).map(([header, description]) => [
    header,
    { description, schema: { type: "string" } },
  ]);
  return {
    description: response.description,
    headers: { "X-Request-Id": header("X-Request-Id"), ...Object.fromEntries(documented) },
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  };
}

function errorResponse(codes: readonly ErrorCode[], schemas: Components): Json {
  const names = [
    "X-Request-Id",
    "X-Should-Retry",
    ...(codes.some((code) => ERRORS[code].retryable) ? ["Retry-After"] : []),
  ];
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: Object.fromEntries(names.map((name) => [name, header(name)])),
    content: {
      "application/json": { schema: schemas.output(errorBody, "Error") },
      "application/problem+json": { schema: schemas.output(problemBody, "Problem") },
    },
  };
}

/** One status can mean both a response (not ready) and errors (overloaded). OpenAPI has one entry for both. */
function merge(answer: Json, failure: Json): Json {
  const json = "application/json";
  const [left, right] = [answer["content"] as Json, failure["content"] as Json] as const;
  const alternatives = [left[json], right[json]].flatMap((media) =>
    media === undefined ? [] : [(media as Json)["schema"]],
  );
  return {
    description: `${String(answer["description"])} Or ${String(failure["description"])}.`,
    headers: { ...(answer["headers"] as Json), ...(failure["headers"] as Json) },
    content: { ...left, ...right, [json]: { schema: { anyOf: alternatives } } },
  };
}

function withHeaders(response: Json, names: readonly string[]): Json {
  const own = Object.fromEntries(names.map((name) => [name, header(name)]));
  return { ...response, headers: { ...(response["headers"] as Json), ...own } };
}

function header(name: string): Json {
  return { $ref: `#/components/headers/${name}` };
}
