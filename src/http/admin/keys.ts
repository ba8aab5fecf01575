// …/keys and …/keys/{key_id}: manages API keys, for a workspace's administrators and the operator [keys.replace].
import { createKey, describeKey, type KeyRef, replaceKey, revokeKey, rotateKey } from "../../admin/keys/keys.ts";
import { listKeys } from "../../admin/keys/list-keys.ts";
import type { Principal } from "../../auth/principal.ts";
import { KEY_CONTRACTS, keyChange, keyQuery, keyRequest, keyRotation } from "../../contract/admin/keys.ts";
import type { HandlerContext } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import {
  type AdminEdge,
  listReply,
  type MirroredEndpoint,
  mirroredEndpoint,
  objectReply,
  pageRequest,
  preconditionOf,
} from "./frame.ts";

const LIST = "keys";

export function keyEndpoints({ requireAdmin, admin }: AdminEdge): readonly MirroredEndpoint[] {
  const keyOf = async (context: HandlerContext<Principal>): Promise<KeyRef> => ({
    ...(await workspaceAdmin(requireAdmin, context)),
    key: pathParameter(context, "key_id"),
  });
  return [
    mirroredEndpoint(KEY_CONTRACTS.list, async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      const { app = null, role = null, state = null, ...page } = readQuery(context.request, keyQuery);
      const keys = await listKeys(admin, workspaceId, { ...pageRequest(LIST, page), app, role, state });
      return listReply(LIST, keys);
    }),
    mirroredEndpoint(KEY_CONTRACTS.create, async (context) => {
      const workspace = await workspaceAdmin(requireAdmin, context);
      return objectReply(await createKey(admin, workspace, await readFields(context.request, keyRequest)), 201);
    }),
    mirroredEndpoint(KEY_CONTRACTS.read, async (context) =>
      objectReply(await describeKey(admin, await keyOf(context))),
    ),
    mirroredEndpoint(KEY_CONTRACTS.replace, async (context) => {
      const key = await keyOf(context);
      const change = await readFields(context.request, keyChange);
      return objectReply(await replaceKey(admin, key, preconditionOf(context), change));
    }),
    mirroredEndpoint(KEY_CONTRACTS.rotate, async (context) => {
      const key = await keyOf(context);
      const { overlap_seconds: seconds } = await readFields(context.request, keyRotation);
      return objectReply(await rotateKey(admin, key, preconditionOf(context), seconds), 201);
    }),
    mirroredEndpoint(KEY_CONTRACTS.revoke, async (context) =>
      objectReply(await revokeKey(admin, await keyOf(context), preconditionOf(context))),
    ),
  ];
}
