// /admin/v1/workspaces and /admin/v1/workspaces/{tenant_id}: manages workspaces, for the operator [admin.workspaces].
import {
  createWorkspace,
  deleteWorkspace,
  describeWorkspace,
  listWorkspaces,
  replaceWorkspace,
} from "../../admin/workspaces.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  deleteWorkspaceContract,
  getWorkspaceContract,
  listWorkspacesContract,
  postWorkspaceContract,
  putWorkspaceContract,
  workspaceChange,
  workspaceQuery,
  workspaceRequest,
} from "../../contract/admin/workspaces.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, deletedReply, listReply, objectReply, pageRequest, preconditionOf } from "./frame.ts";

const LIST = "workspaces";

export function workspaceEndpoints({ requireAdmin, admin }: AdminEdge): readonly Endpoint<Principal>[] {
  return [
    {
      contract: listWorkspacesContract,
      handle: async ({ request }) => {
        const { plan = null, ...page } = readQuery(request, workspaceQuery);
        return listReply(LIST, await listWorkspaces(admin, { ...pageRequest(LIST, page), plan }));
      },
    },
    {
      contract: postWorkspaceContract,
      handle: async (context) => {
        const actor = principalOf(context).key.id;
        const workspace = await readFields(context.request, workspaceRequest);
        return objectReply(await createWorkspace(admin, { actor, ...workspace }), 201);
      },
    },
    {
      contract: getWorkspaceContract,
      handle: async (context) => {
        const { workspaceId } = await workspaceAdmin(requireAdmin, context);
        return objectReply(await describeWorkspace(admin, workspaceId));
      },
    },
    {
      contract: putWorkspaceContract,
      handle: async (context) => {
        const target = await workspaceAdmin(requireAdmin, context);
        const precondition = preconditionOf(context);
        const { plan } = await readFields(context.request, workspaceChange);
        return objectReply(await replaceWorkspace(admin, { ...target, precondition, plan }));
      },
    },
    {
      contract: deleteWorkspaceContract,
      handle: async (context) => {
        const target = await workspaceAdmin(requireAdmin, context);
        await deleteWorkspace(admin, { ...target, precondition: preconditionOf(context) });
        return deletedReply("workspace", target.workspaceId);
      },
    },
  ];
}
