// GET /admin/v1/requests: lists request records or returns one, of all workspaces or one [requests.administrators].
import type { Principal } from "../../auth/principal.ts";
import {
  getAnyRequestContract,
  listRequestsContract,
  requestsQuery,
  workspaceRequestContracts,
  workspaceRequestsContracts,
  workspaceRequestsQuery,
} from "../../contract/admin/request-list.ts";
import { findAnyRequest } from "../../requests/describe.ts";
import { isRequestPosition, listRequests as readList } from "../../requests/list.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "requests";

export function listRequests({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listRequestsContract,
    handle: async (context) => {
      const { workspace, limit, cursor, ...question } = readQuery(context.request, requestsQuery);
      const workspaceId = workspace === undefined ? null : await requireAdmin(principalOf(context), workspace);
      const page = pageRequest(LIST, { limit, cursor }, isRequestPosition);
      return listReply(LIST, await readList(admin.database, workspaceId, question, page));
    },
  };
}

export function getAnyRequest({ records }: AdminEdge): Endpoint<Principal> {
  return {
    contract: getAnyRequestContract,
    handle: async (context) => {
      const record = await findAnyRequest(records, null, pathParameter(context, "request_id"));
      return { status: 200, body: { json: record } };
    },
  };
}

export function listWorkspaceRequests({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceRequestsContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const { limit, cursor, ...question } = readQuery(context.request, workspaceRequestsQuery);
    const page = pageRequest(LIST, { limit, cursor }, isRequestPosition);
    return listReply(LIST, await readList(admin.database, workspaceId, question, page));
  });
}

export function getWorkspaceRequest({ requireAdmin, records }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceRequestContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const record = await findAnyRequest(records, workspaceId, pathParameter(context, "request_id"));
    return { status: 200, body: { json: record } };
  });
}
