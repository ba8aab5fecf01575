// The structure of the OpenAPI document, of the real contracts and of a richer made-up one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type EndpointContract, errorsOf } from "../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import { ERRORS } from "../../../src/contract/errors.ts";
import { transcriptionEnvelope, transcriptionRequest } from "../../../src/contract/transcription.ts";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { readonly $ref: string } }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: Record<string, { schema: unknown }> }
  >;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

const shared = z.strictObject({ name: z.string().describe("A name.") });
const SAMPLE: readonly EndpointContract[] = [
  {
    method: "POST",
    path: "/v1/transcription",
    operationId: "createTranscription",
    summary: "Transcribe",
    auth: "key",
    scope: "transcribe",
    requestBody: { json: transcriptionRequest, multipart: z.strictObject({ file: z.file() }) },
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

for (const [name, contracts] of Object.entries({ published: ENDPOINTS, sample: SAMPLE })) {
  const document = openapiDocument(contracts) as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

  test(`api.openapi: ${name}: every $ref resolves inside the document`, () => {
    const references = collectRefs(document);
    assert.ok(references.length > 0);
    for (const reference of references) assert.ok(resolves(document, reference), reference);
  });

  test(`api.openapi: ${name}: operation ids are unique and every endpoint is listed once`, () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.deepEqual(ids.toSorted(), [...new Set(contracts.map(({ operationId }) => operationId))].toSorted());
  });

  test(`api.openapi: ${name}: path parameters are declared, required, and no others are`, () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => parameter);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
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
        const response = operation.responses[String(ERRORS[code].status)];
        assert.ok(
          response !== undefined && response.description.includes(`\`${code}\``),
          `${contract.operationId} ${code}`,
        );
        assert.ok(JSON.stringify(response.content?.["application/json"]).includes("#/components/schemas/Error"));
      }
      assert.equal(operation.security.length, contract.auth === "key" ? 1 : 0);
    }
  });
}

test("api.openapi: a query's default makes it optional, and descriptions of headers and fields reach the document", () => {
  const document = openapiDocument(SAMPLE) as unknown as Document;
  const parameters = document.paths["/v1/things/{thing_id}/parts/{part}"]?.["get"]?.parameters ?? [];
  const required = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.required]));
  assert.deepEqual(required, { thing_id: true, part: true, wait: false, label: true });
  const text = JSON.stringify(document);
  assert.match(text, /Makes a retry safe\./);
  assert.match(text, /Separate and label speakers\./);
});

function collectRefs(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : collectRefs(inner),
  );
}

function resolves(document: unknown, reference: string): boolean {
  if (!reference.startsWith("#/")) return false;
  let place: unknown = document;
  for (const part of reference.slice(2).split("/")) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, part)) return false;
    place = (place as Record<string, unknown>)[part];
  }
  return true;
}
