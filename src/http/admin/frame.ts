// Helpers that all administration handlers share: pagination cursors, If-Match preconditions, and responses with an ETag [admin.if-match-required].
import type { AudioUrlCheckServices } from "../../admin/check-audio-url.ts";
import type { ReadCheckpoint } from "../../admin/audit/audit-checkpoint.ts";
import type { ApplyFileServices } from "../../admin/apply-file.ts";
import type { LocalModelServices } from "../../admin/local-models.ts";
import type { PauseServices } from "../../admin/connections/pauses.ts";
import type { ProviderHealthServices } from "../../admin/connections/provider-health.ts";
import type { SetUpServices } from "../../admin/set-up-scope.ts";
import type { ExplanationServices } from "../../admin/routes/explain-request.ts";
import type { RetirementServices } from "../../admin/routes/list-retirements.ts";
import type { ModelListServices } from "../../admin/connections/list-models.ts";
import type { ConnectionTestServices } from "../../admin/connections/test-connection.ts";
import { type Precondition, viewEtag } from "../../admin/precondition.ts";
import type { KeyServices } from "../../admin/keys/keys.ts";
import type { Page, PageRequest } from "../../admin/services.ts";
import type { Principal } from "../../auth/principal.ts";
import type { WorkspaceEndpoints } from "../../contract/admin/admin.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { RecordServices } from "../../requests/describe.ts";
import { decodeCursor, encodeCursor } from "../../lib/cursor.ts";
import type { Endpoint, HandlerContext, Reply } from "../server/endpoint.ts";
import type { SandboxLevers } from "./sandbox/sandbox-levers.ts";
import type { RequireAdmin } from "../endpoints/workspace-admin.ts";

/** `requireAdmin` resolves the workspace of a path, for its administrators and the operator. */
export interface AdminEdge {
  readonly requireAdmin: RequireAdmin;
  readonly admin: KeyServices;
  readonly records: RecordServices;
  readonly setUp: SetUpServices;
  readonly connectionTests: ConnectionTestServices;
  readonly audioUrlChecks: AudioUrlCheckServices;
  readonly models: ModelListServices;
  readonly pauses: PauseServices;
  readonly explanations: ExplanationServices;
  readonly health: ProviderHealthServices;
  readonly retirements: RetirementServices;
  readonly applyFile: ApplyFileServices;
  readonly sandbox: SandboxLevers;
  readonly localModels: LocalModelServices;
  readonly readCheckpoint: () => Promise<ReadCheckpoint>;
}

/** One endpoint under two paths: `/workspace/{tenant_id}` and `/admin/v1/workspaces/{tenant_id}`. */
export interface MirroredEndpoint {
  readonly workspace: Endpoint<Principal>;
  readonly operator: Endpoint<Principal>;
}

export function mirroredEndpoint(
  contracts: WorkspaceEndpoints,
  handle: Endpoint<Principal>["handle"],
): MirroredEndpoint {
  return {
    workspace: { contract: contracts.workspace, handle },
    operator: { contract: contracts.operator, handle },
  };
}

/** Ids are printable ASCII. A forged cursor with anything else never reaches the database. */
const isId = (position: string): boolean => /^[\x21-\x7e]{1,200}$/u.test(position);

/** `list` is the list's name: a cursor of another list is refused. `isPosition` validates the position inside a cursor. */
export function pageRequest(
  list: string,
  query: { readonly limit: number; readonly cursor?: string | undefined },
  isPosition: (position: string) => boolean = isId,
): PageRequest {
  const { limit, cursor } = query;
  if (cursor === undefined) return { limit, after: null };
  const after = decodeCursor(list, cursor);
  if (after !== null && isPosition(after)) return { limit, after };
  throw invalidRequest("cursor", "`cursor` is not a `next_cursor` of this list.");
}

export function listReply(list: string, { data, end }: Page<unknown>): Reply {
  const nextCursor = end === null ? null : encodeCursor(list, end);
  return { status: 200, body: { json: { object: "list", data, next_cursor: nextCursor } } };
}

/** One object with its ETag. */
export function objectReply(view: object, status: 200 | 201 = 200): Reply {
  return { status, headers: { etag: viewEtag(view) }, body: { json: view } };
}

export function deletedReply(object: string, id: string): Reply {
  return { status: 200, body: { json: { object, id, deleted: true } } };
}

/** A weak tag never matches, because If-Match uses strong comparison (RFC 9110 section 13.1.1). */
export function preconditionOf({ request }: Pick<HandlerContext, "request">): Precondition {
  const { "if-match": header, "if-none-match": absent } = request.headers;
  if (absent !== undefined && (absent.trim() !== "*" || header !== undefined))
    throw invalidRequest("if-none-match", "If-None-Match must be `*` and cannot be combined with If-Match.");
  if (header === undefined) return absent === undefined ? null : "absent";
  if (header.trim() === "*") return "any";
  const tags = header.split(",").map((tag) => tag.trim());
  if (tags.every((tag) => /^(W\/)?"[\x21\x23-\x7e]*"$/u.test(tag))) return tags.filter((tag) => !tag.startsWith("W/"));
  throw invalidRequest("if-match", "If-Match must be `*` or a list of entity tags in double quotes.");
}
