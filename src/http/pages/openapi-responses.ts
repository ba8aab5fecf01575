// The responses of an operation in OpenAPI. An error response is a component, named after its code or, with several codes, in the contract.
import {
  type EndpointContract,
  errorsOf,
  isLimited,
  type ResponseContract,
} from "../../contract/endpoints/endpoint.ts";
import { RESPONSE_NAMES, SHARED_HEADERS } from "../../contract/endpoints/response-names.ts";
import { errorBody, problemBody } from "../../contract/error-body.ts";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { exampleError } from "./error-examples.ts";
import { componentName, type Components, type Json } from "./openapi-components.ts";

/** Headers of every response, of errors, and of requests that count against a quota. */
const HEADERS = {
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
} as const;
type HeaderName = keyof typeof HEADERS;
const LIMITS: readonly HeaderName[] = ["RateLimit-Policy", "RateLimit"];

export function responsesOf(contract: EndpointContract, components: Components): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(contract)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const limits = isLimited(contract) ? LIMITS : [];
  const entries = new Map<number, Json>(
    Object.entries(contract.responses).map(([status, response]) => [
      Number(status),
      success(response, `${contract.operationId}, ${status}`, limits, components),
    ]),
  );
  for (const [status, codes] of byStatus) {
    // An unknown key has no quota.
    const known = status === 401 ? [] : limits;
    const failure = errorResponse(codes, known, components);
    const same = entries.get(status);
    entries.set(
      status,
      same === undefined ? shared(failure, codes, known.length > 0, components) : merge(same, failure),
    );
  }
  return Object.fromEntries([...entries].toSorted(([left], [right]) => left - right));
}

function success(
  response: ResponseContract,
  body: string,
  limits: readonly HeaderName[],
  components: Components,
): Json {
  const content = Object.entries(response.content).map(([type, schema]) => [
    type,
    { schema: components.schema("output", schema, body) },
  ]);
  const documented = Object.entries(response.headers ?? {}).map(([header, description]) => {
    const part = { description, schema: { type: "string" } };
    return [header, SHARED_HEADERS[header] === description ? components.share("headers", header, part) : part];
  });
  return {
    description: response.description,
    headers: {
      ...headersOf(["X-Request-Id"], components),
      ...Object.fromEntries(documented),
      ...headersOf(limits, components),
    },
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  };
}

function errorResponse(codes: readonly ErrorCode[], limits: readonly HeaderName[], components: Components): Json {
  const [code] = codes;
  const isRetryable = codes.some((code) => ERRORS[code].retryable);
  const names: readonly HeaderName[] = [
    "X-Request-Id",
    "X-Should-Retry",
    ...(isRetryable ? (["Retry-After"] as const) : []),
    ...limits,
  ];
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: headersOf(names, components),
    content: {
      "application/json": {
        schema: components.schema("output", errorBody, "an error"),
        ...(code === undefined ? {} : { example: exampleError(code) }),
      },
      "application/problem+json": { schema: components.schema("output", problemBody, "a problem") },
    },
  };
}

function headersOf(names: readonly HeaderName[], components: Components): Json {
  return Object.fromEntries(names.map((name) => [name, components.share("headers", name, HEADERS[name])]));
}

/** A component if it has a name. The same errors have other headers where requests count against a quota. */
function shared(response: Json, codes: readonly ErrorCode[], hasLimits: boolean, components: Components): Json {
  const name = nameOf(codes);
  return name === null
    ? response
    : components.share("responses", `${name}${hasLimits ? "WithRateLimit" : ""}`, response);
}

function nameOf(codes: readonly ErrorCode[]): string | null {
  const [code, ...others] = codes;
  if (code !== undefined && others.length === 0) return componentName(code);
  const [name = null] = Object.entries(RESPONSE_NAMES).find(([, listed]) => listed.join() === codes.join()) ?? [];
  return name;
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
