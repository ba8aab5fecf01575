// …/apps and …/apps/{app_id}: manages the apps of a workspace, for its administrators and the operator [admin.apps].
import { createApp, deleteApp, describeApp, listApps, type AppRef, replaceApp } from "../../admin/apps.ts";
import type { Principal } from "../../auth/principal.ts";
import { APP_CONTRACTS, appChange, appQuery, appRequest } from "../../contract/admin/apps.ts";
import type { HandlerContext } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { type RequireAdmin, workspaceAdmin } from "../endpoints/workspace-admin.ts";
import {
  type AdminEdge,
  deletedReply,
  listReply,
  type MirroredEndpoint,
  mirroredEndpoint,
  objectReply,
  pageRequest,
  preconditionOf,
} from "./frame.ts";

const LIST = "apps";

export function appEndpoints({ requireAdmin, admin }: AdminEdge): readonly MirroredEndpoint[] {
  return [
    mirroredEndpoint(APP_CONTRACTS.list, async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      return listReply(
        LIST,
        await listApps(admin, workspaceId, pageRequest(LIST, readQuery(context.request, appQuery))),
      );
    }),
    mirroredEndpoint(APP_CONTRACTS.create, async (context) => {
      const workspace = await workspaceAdmin(requireAdmin, context);
      return objectReply(await createApp(admin, workspace, await readFields(context.request, appRequest)), 201);
    }),
    mirroredEndpoint(APP_CONTRACTS.read, async (context) =>
      objectReply(await describeApp(admin, await appOf(requireAdmin, context))),
    ),
    mirroredEndpoint(APP_CONTRACTS.replace, async (context) => {
      const app = await appOf(requireAdmin, context);
      const change = await readFields(context.request, appChange);
      return objectReply(await replaceApp(admin, app, preconditionOf(context), change));
    }),
    mirroredEndpoint(APP_CONTRACTS.remove, async (context) => {
      const app = await appOf(requireAdmin, context);
      return deletedReply("app", (await deleteApp(admin, app, preconditionOf(context))).id);
    }),
  ];
}

export async function appOf(requireAdmin: RequireAdmin, context: HandlerContext<Principal>): Promise<AppRef> {
  return { ...(await workspaceAdmin(requireAdmin, context)), app: pathParameter(context, "app_id") };
}
