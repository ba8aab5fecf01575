// Building blocks of the admin API's contracts: schemas of pages, times, ownership and ETags, and one declaration that yields an endpoint for workspace
// administrators and the same for the operator [admin.mirrored].
import { z } from "zod";
import type { EndpointContract, ResponseContract } from "../endpoints/endpoint.ts";
import type { ErrorCode } from "../errors.ts";
import { ETAG } from "../endpoints/response-names.ts";
import { givenTime } from "../times.ts";

/** Query fields of every list. */
export const pageFields = {
  limit: z.int().min(1).max(100).default(20).describe("Maximum number of items."),
  cursor: z.string().min(1).max(400).describe("`next_cursor` of the previous page.").optional(),
};

const id = z.string().min(1).max(64);
const moment = givenTime();

/** Query fields that several lists have, each of them some. */
export const filterFields = {
  from: moment.describe("At or after this time.").optional(),
  to: moment.describe("Before this time.").optional(),
  workspace: id.describe("Slug or id of the workspace.").optional(),
  app: id.describe("Id of the app.").optional(),
  key: id.describe("Id of the key.").optional(),
};

export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    object: z.literal("list"),
    data: z
      .array(item)
      .describe(
        "In the order that the endpoint documents; default: newest first. Items added later do not shift a cursor.",
      ),
    next_cursor: z.string().nullable().describe("Send it as `cursor` for the next page. Null on the last page."),
  });
}

export const time = z.string().describe("RFC 3339, UTC.");

export const managedBy = z
  .enum(["file", "api"])
  .describe("`file`: owned by the configuration file, read-only here. `api`: created and changed through the API.");
export type ManagedBy = z.infer<typeof managedBy>;

/** For a `PUT` that replaces a whole object: the client must name the version that it replaces. */
export const requiredMatch = z.object({
  "If-Match": z
    .string()
    .describe(
      "The `ETag` that was read, or `*` for any. Missing: 428. Changed since: 412. In both cases nothing is changed.",
    ),
});
/** For a change of a single property. */
export const optionalMatch = z.object({
  "If-Match": z.string().describe("The `ETag` that was read. Changed since: 412, and nothing is changed.").optional(),
});

export function json(description: string, schema: z.ZodType): ResponseContract {
  return { description, content: { "application/json": schema } };
}

/** An answer with one object and its ETag. */
export function jsonWithEtag(description: string, schema: z.ZodType): ResponseContract {
  return { ...json(description, schema), headers: ETAG };
}

export const CHANGE_ERRORS = [
  "NOT_FOUND",
  "MANAGED_BY_FILE",
  "CONFLICT",
  "PRECONDITION_FAILED",
  "BODY_TOO_LARGE",
] as const satisfies readonly ErrorCode[];

export type EndpointTemplate = Omit<EndpointContract, "auth" | "role">;

/** For the operator only: `path` is relative to `/admin/v1`. */
export function operatorEndpoint(endpoint: EndpointTemplate): EndpointContract {
  return { ...endpoint, auth: "operator", path: `/admin/v1${endpoint.path}` };
}

/** The same endpoint for a workspace's administrators, and for the operator on the admin listener. */
export interface WorkspaceEndpoints {
  readonly workspace: EndpointContract;
  readonly operator: EndpointContract;
}

/** `path` is relative to the workspace. */
export function mirrorForOperator(endpoint: EndpointTemplate): WorkspaceEndpoints {
  const { path } = endpoint;
  const errors: readonly ErrorCode[] = [...new Set<ErrorCode>([...endpoint.errors, "NOT_FOUND"])];
  return {
    workspace: {
      ...endpoint,
      auth: "key",
      role: "admin",
      path: `/workspace/:tenant_id${path}`,
      errors,
    },
    operator: operatorEndpoint({ ...endpoint, path: `/workspaces/:tenant_id${path}`, errors }),
  };
}
