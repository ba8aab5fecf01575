// What all endpoints of the administration share: pages, who owns an object, ETags, and one contract for the workspace's administrators
// and the operator alike [admin.mirrored].
import { z } from "zod";
import type { EndpointContract, ResponseContract } from "./endpoint.ts";
import type { ErrorCode } from "./errors.ts";

/** Query fields of every list. */
export const pageFields = {
  limit: z.int().min(1).max(100).default(20).describe("How many at most."),
  cursor: z.string().min(1).max(400).describe("`next_cursor` of the page before.").optional(),
};

export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    object: z.literal("list"),
    data: z
      .array(item)
      .describe(
        "In the order that the endpoint names, newest first unless it does. What is added later never moves what a cursor points at.",
      ),
    next_cursor: z.string().nullable().describe("Send it as `cursor` for the next page; null on the last."),
  });
}

export const time = z.string().describe("RFC 3339, UTC.");

export const managedBy = z
  .enum(["file", "api"])
  .describe("`file`: the configuration file's, read-only here. `api`: made and changed here.");
export type ManagedBy = z.infer<typeof managedBy>;

const ETAG = { ETag: "Names this state of the object; send it as `If-Match` with a change." };

/** For `PUT` over what is there: it replaces the whole, so it must say what it replaces. */
export const requiredMatch = z.object({
  "If-Match": z
    .string()
    .describe("The `ETag` that was read, or `*` for any. Missing: 428; no longer so: 412. Nothing is changed then."),
});
/** For what changes one thing only. */
export const optionalMatch = z.object({
  "If-Match": z.string().describe("The `ETag` that was read; no longer so: 412, and nothing is changed.").optional(),
});

export function json(description: string, schema: z.ZodType): ResponseContract {
  return { description, content: { "application/json": schema } };
}

/** An answer that shows one object. */
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

export type EndpointBelow = Omit<EndpointContract, "auth">;

/** Of the operator alone: `path` is below `/admin/v1`. */
export function operatorEndpoint(endpoint: EndpointBelow): EndpointContract {
  return { ...endpoint, auth: "operator", path: `/admin/v1${endpoint.path}` };
}

/** The same endpoint for a workspace's administrators, and for the operator on the admin listener. */
export interface Mirrored {
  readonly workspace: EndpointContract;
  readonly operator: EndpointContract;
}

/** `path` is below the workspace. */
export function mirrored(endpoint: EndpointBelow): Mirrored {
  const { path } = endpoint;
  const errors: readonly ErrorCode[] = [...new Set<ErrorCode>([...endpoint.errors, "NOT_FOUND"])];
  return {
    workspace: {
      ...endpoint,
      auth: "key",
      path: `/workspace/:tenant_id${path}`,
      errors: [...new Set<ErrorCode>([...errors, "FORBIDDEN"])],
    },
    operator: operatorEndpoint({ ...endpoint, path: `/workspaces/:tenant_id${path}`, errors }),
  };
}
