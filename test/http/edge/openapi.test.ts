// The structure of the OpenAPI document, of the real contracts and of a richer made-up one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ADMIN_ENDPOINTS } from "../../../src/contract/endpoints/admin-endpoints.ts";
import { type EndpointContract, errorsOf, requiredRole } from "../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import { PARAMETER_NAMES } from "../../../src/contract/endpoints/parameter-names.ts";
import { RESPONSE_NAMES, SHARED_HEADERS } from "../../../src/contract/endpoints/response-names.ts";
import { SCHEMA_NAMES } from "../../../src/contract/endpoints/schema-names.ts";
import { ERRORS } from "../../../src/contract/errors.ts";
import { transcriptionRequest } from "../../../src/contract/transcription/transcription-fields.ts";
import { transcriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";
import { referencesIn, resolveReference } from "../../harness/openapi-references.ts";

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly "x-required-role"?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { readonly $ref: string } }> };
  readonly responses: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { schema: unknown }> }
  >;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: Record<string, Record<string, object>>;
}

const shared = z.strictObject({ name: z.string().describe("A name.") });
const form = z.strictObject({ file: z.file() });
const SAMPLE_SCHEMAS = { ...SCHEMA_NAMES, Part: shared, RecordingForm: form };
const SAMPLE: readonly EndpointContract[] = [
  {
    method: "POST",
    path: "/v1/transcription",
    operationId: "createTranscription",
    summary: "Transcribe",
    auth: "key",
    scope: "transcribe",
    requestBody: { json: transcriptionRequest, multipart: form },
    headers: z.object({ "Idempotency-Key": z.string().max(255).describe("Makes a retry safe.").optional() }),
    responses: {
      200: { description: "Done.", content: { "application/json": transcriptionEnvelope, "text/plain": z.string() } },
    },
    errors: ["AUDIO_TOO_LARGE", "BODY_TOO_LARGE", "NO_HEALTHY_PROVIDER"],
  },
  {
    method: "GET",
    path: "/v1/things/:thing_id/parts/:part",
    operationId: "getPart",
    summary: "A part",
    auth: "key",
    query: z.object({ wait: z.coerce.number().int().min(0).max(60).default(0), label: z.string() }),
    responses: { 200: { description: "The part.", content: { "application/json": shared } } },
    errors: ["NOT_FOUND"],
  },
  {
    method: "PUT",
    path: "/v1/things/:thing_id/parts/:part",
    operationId: "putPart",
    summary: "Change a part",
    auth: "none",
    requestBody: { json: shared },
    responses: { 200: { description: "The part.", content: { "application/json": shared } } },
    errors: [],
  },
];

const DOCUMENTS = {
  published: { contracts: ENDPOINTS, schemas: SCHEMA_NAMES },
  administration: { contracts: ADMIN_ENDPOINTS, schemas: SCHEMA_NAMES },
  sample: { contracts: SAMPLE, schemas: SAMPLE_SCHEMAS },
};
for (const [name, { contracts, schemas }] of Object.entries(DOCUMENTS)) {
  const document = openapiDocument(contracts, { schemas }) as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  test(`api.openapi: ${name}: every $ref resolves inside the document`, () => {
    const references = referencesIn(document);
    assert.ok(references.length > 0);
    for (const $ref of references) resolveReference<object>(document, { $ref });
  });

  test(`api.openapi-components: ${name}: every component is referred to`, () => {
    const references = new Set(referencesIn(document));
    for (const [place, parts] of Object.entries(document.components)) {
      if (place === "securitySchemes") continue;
      for (const part of Object.keys(parts)) assert.ok(references.has(`#/components/${place}/${part}`), part);
    }
  });

  test(`api.openapi-components: ${name}: no component is written out again, and no parameter or error response twice`, () => {
    const { schemas: named = {}, parameters = {}, responses = {} } = document.components;
    const copies = new Set(Object.values(named).map(constraintsOf));
    for (const [component, schema] of Object.entries(named))
      for (const inner of objectsIn(schema).slice(1)) assert.ok(!copies.has(constraintsOf(inner)), component);
    const errors = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => (Number(status) < 400 ? [] : [response])),
    );
    for (const [shared, used] of [
      [parameters, operations.flatMap(({ operation }) => operation.parameters ?? [])],
      [responses, errors],
    ] as const) {
      const written = used.filter((part) => !("$ref" in part)).map((part) => JSON.stringify(part));
      const all = [...written, ...Object.values(shared).map((part) => JSON.stringify(part))];
      assert.equal(
        new Set(all).size,
        all.length,
        all.find((part, at) => all.indexOf(part) < at),
      );
    }
  });

  test(`api.openapi-components: ${name}: no object is described in two places without a name`, () => {
    const places = new Map<string, number>();
    for (const schema of objectsIn(document)) {
      if (!("properties" in schema) || Object.keys(schema.properties as object).length === 0) continue;
      const structure = JSON.stringify(withoutDescriptions(schema));
      places.set(structure, (places.get(structure) ?? 0) + 1);
    }
    assert.ok(places.size > 0);
    assert.deepEqual(
      [...places].filter(([, count]) => count > 1),
      [],
    );
  });

  test(`api.openapi: ${name}: operation ids are unique and every endpoint is listed once`, () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.deepEqual(ids.toSorted(), [...new Set(contracts.map(({ operationId }) => operationId))].toSorted());
  });

  test(`api.openapi: ${name}: path parameters are declared, required, and no others are`, () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => parameter);
      const declared = parametersOf(document, operation).filter((parameter) => parameter.in === "path");
      assert.deepEqual(
        declared.map((parameter) => parameter.name),
        inPath,
      );
      assert.ok(declared.every(({ required }) => required));
      assert.doesNotMatch(path, /:/);
    }
  });

  test(`errors.listed, api.openapi: ${name}: every error an endpoint can return is listed at its status with the error's schema`, () => {
    for (const contract of contracts) {
      const operation = operations.find((entry) => entry.operation.operationId === contract.operationId)?.operation;
      assert.ok(operation !== undefined);
      for (const code of errorsOf(contract)) {
        const response = resolveReference(document, operation.responses[String(ERRORS[code].status)] ?? {});
        assert.ok(response.description?.includes(`\`${code}\``), `${contract.operationId} ${code}`);
        assert.ok(JSON.stringify(response.content?.["application/json"]).includes('"#/components/schemas/Error"'));
      }
      assert.equal(operation.security.length, contract.auth === "none" ? 0 : 1);
    }
  });
}

test("api.openapi-components: every name of the contract is in one of the two documents", () => {
  const documents = [ENDPOINTS, ADMIN_ENDPOINTS].map((contracts) => openapiDocument(contracts) as unknown as Document);
  const used = new Set(
    documents.flatMap(({ components }) =>
      Object.entries(components).flatMap(([place, parts]) =>
        Object.keys(parts).map((part) => `${place}/${part.replace(/WithRateLimit$/u, "")}`),
      ),
    ),
  );
  const named = {
    schemas: SCHEMA_NAMES,
    parameters: PARAMETER_NAMES,
    responses: RESPONSE_NAMES,
    headers: SHARED_HEADERS,
  };
  for (const [place, names] of Object.entries(named))
    for (const name of Object.keys(names)) assert.ok(used.has(`${place}/${name}`), `${place}/${name}`);
});

test("api.openapi-components: a body without a name is refused, and so is a name that means two schemas", () => {
  const [, , put] = SAMPLE;
  assert.ok(put !== undefined);
  assert.throws(() => openapiDocument([put]), /the schema of putPart has no name/u);
  const withDefault = z.strictObject({ name: z.string().default("") });
  const ambiguous: EndpointContract = {
    ...put,
    requestBody: { json: withDefault },
    responses: { 200: { description: "The part.", content: { "application/json": withDefault } } },
  };
  const schemas = { ...SCHEMA_NAMES, Part: withDefault };
  assert.throws(() => openapiDocument([ambiguous], { schemas }), /Part differs between requests and responses/u);
});

test("api.openapi-roles: an operation that needs a role names it, and no other does", () => {
  for (const contracts of [ENDPOINTS, ADMIN_ENDPOINTS]) {
    const { paths } = openapiDocument(contracts) as unknown as Document;
    const named = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, "x-required-role": role = null }) => [operationId, role]);
    const declared = contracts.map((contract) => [contract.operationId, requiredRole(contract)]);
    assert.deepEqual(Object.fromEntries(named), Object.fromEntries(declared));
  }
});

test("api.openapi: a query's default makes it optional, and descriptions of headers and fields reach the document", () => {
  const document = openapiDocument(SAMPLE, { schemas: SAMPLE_SCHEMAS }) as unknown as Document;
  const operation = document.paths["/v1/things/{thing_id}/parts/{part}"]?.["get"];
  assert.ok(operation !== undefined);
  const parameters = parametersOf(document, operation);
  const required = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.required]));
  assert.deepEqual(required, { thing_id: true, part: true, wait: false, label: true });
  const text = JSON.stringify(document);
  assert.match(text, /Makes a retry safe\./);
  assert.match(text, /Separate and label speakers\./);
});

/** A schema without its description, which may differ where it is referred to. */
function constraintsOf({ description: _description, ...constraints }: { readonly description?: unknown }): string {
  return JSON.stringify(constraints);
}

/** What a schema admits, which its descriptions do not change. Two empty objects are no entity. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => name !== "description" || typeof member !== "string",
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutDescriptions(member)]));
}

/** A value and every object in it. */
function objectsIn(value: unknown): readonly object[] {
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [] : [value]), ...Object.values(value).flatMap(objectsIn)];
}

function parametersOf(document: Document, operation: Operation): readonly Parameter[] {
  return (operation.parameters ?? []).map((parameter) => resolveReference(document, parameter));
}
