// Our own OpenAPI documents as a list of operations: the conformance run knows nothing about the API but what they contain.
import { ADMIN_ENDPOINTS } from "../../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import { ADMIN_API, openapiDocument } from "../../src/http/pages/openapi.ts";
import { resolveReference } from "../harness/openapi-references.ts";

/** As much of JSON Schema as our documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Response extends Content {
  readonly description: string;
}

export interface Operation {
  readonly listener: Listener;
  readonly method: string;
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Response>>;
  readonly "x-required-scope"?: string;
}

export type Listener = "public" | "admin";

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, "listener" | "method" | "path">>>>>;
}

export const DOCUMENTS: Readonly<Record<Listener, Document>> = {
  public: openapiDocument(ENDPOINTS) as unknown as Document,
  admin: openapiDocument(ADMIN_ENDPOINTS, { about: ADMIN_API }) as unknown as Document,
};

export function operationsOf(listener: Listener): readonly Operation[] {
  return Object.entries(DOCUMENTS[listener].paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: (operation.parameters ?? []).map((parameter) => resolveReference(DOCUMENTS[listener], parameter)),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          resolveReference(DOCUMENTS[listener], response),
        ]),
      ),
      listener,
      path,
      method: method.toUpperCase(),
    })),
  );
}

export function resolve(listener: Listener, schema: Schema): Schema {
  return resolveReference(DOCUMENTS[listener], schema);
}

export function nameOf({ listener, method, path }: Operation): string {
  return `${listener} ${method} ${path}`;
}
