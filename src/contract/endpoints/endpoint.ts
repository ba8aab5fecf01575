// The type of an endpoint's contract: method, path, authentication, scope, schemas and errors, without its handler. The server, OpenAPI, console and CLI are
// built from contracts [api.openapi].
import type { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import type { Scope } from "../scopes.ts";

export const ENDPOINT_METHODS = ["GET", "POST", "PUT", "DELETE"] as const;
export type EndpointMethod = (typeof ENDPOINT_METHODS)[number];
/** Scopes that an endpoint can require; `routing:read` only changes what an answer shows. */
export type EndpointScope = Exclude<Scope, "routing:read">;

export interface ResponseContract {
  readonly description: string;
  /** Schema by media type. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  /** Documented headers in addition to `X-Request-Id`, with one sentence each. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface EndpointContract {
  readonly method: EndpointMethod;
  /** With `:name` for a parameter: `/v1/transcription/jobs/:job_id`. */
  readonly path: string;
  /** Matches percent-encoded spellings of this path that are accepted, although other paths are matched literally. */
  readonly aliasPattern?: RegExp;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** `operator`: an operator key, on the admin listener only. */
  readonly auth: "none" | "key" | "operator";
  /** The key is one of an administrator of the workspace in the path, or the operator's [tenancy.workspace-admin]. */
  readonly role?: "admin";
  readonly scope?: EndpointScope;
  /** Selects a model: every request leaves a record, even without a valid key. */
  readonly isRouted?: true;
  readonly requestBody?: { readonly json?: z.ZodType; readonly multipart?: z.ZodType };
  readonly query?: z.ZodObject;
  /** Request headers by their exact spelling; their meaning goes into `describe`. */
  readonly headers?: z.ZodObject;
  readonly responses: Readonly<Record<number, ResponseContract>>;
  /** In addition to errors of every endpoint (`COMMON_ERRORS`, and 401 and 403 depending on `auth`, `role` and `scope`). */
  readonly errors: readonly ErrorCode[];
}

const COMMON_ERRORS = [
  "INVALID_REQUEST",
  "REQUEST_TIMEOUT",
  "URI_TOO_LONG",
  "EXPECTATION_FAILED",
  "HEADERS_TOO_LARGE",
  "OVERLOADED",
  "INTERNAL",
] as const satisfies readonly ErrorCode[];

/** The name in records and idempotency slots. */
export function endpointName({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/** Its path in OpenAPI syntax: `/v1/transcription/jobs/{job_id}`. */
export function pathTemplate({ path }: Pick<EndpointContract, "path">): string {
  return path.replaceAll(PARAMETER, "{$1}");
}

export function pathParameters({ path }: Pick<EndpointContract, "path">): readonly string[] {
  return [...path.matchAll(PARAMETER)].map(([, name = ""]) => name);
}

const PARAMETER = /:([a-z_]+)/gu;

/** The role of the key. Null: a key of any role, or no key. */
export function requiredRole({ auth, role }: EndpointContract): "admin" | "operator" | null {
  return auth === "operator" ? "operator" : (role ?? null);
}

/** Whether requests count against the quotas of key and app. If so, every answer reports what remains. */
export function isLimited({ errors }: EndpointContract): boolean {
  return errors.includes("RATE_LIMITED");
}

/** All errors of an endpoint: its own, those of its guards, and those of HTTP itself. */
export function errorsOf(contract: EndpointContract): readonly ErrorCode[] {
  const guards: ErrorCode[] = contract.auth === "none" ? [] : ["UNAUTHENTICATED"];
  if (contract.scope !== undefined || requiredRole(contract) !== null) guards.push("FORBIDDEN");
  if (contract.requestBody !== undefined) guards.push("UNSUPPORTED_MEDIA_TYPE");
  return [...new Set([...COMMON_ERRORS, ...guards, ...contract.errors])];
}
