// POST …/audio-url-domains/check: checks whether an audio URL would be accepted, for a workspace's administrators and the operator.
import { checkAudioUrl } from "../../admin/check-audio-url.ts";
import { audioUrlCheckContracts, audioUrlCheckRequest } from "../../contract/admin/audio-url-check.ts";
import { principalOf } from "../server/endpoint.ts";
import { readFields } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, type MirroredEndpoint, mirroredEndpoint } from "./frame.ts";

export function postAudioUrlCheck({ requireAdmin, audioUrlChecks }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(audioUrlCheckContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const { url } = await readFields(context.request, audioUrlCheckRequest);
    const isOperator = principalOf(context).key.role === "operator";
    const check = { workspaceId, url, isOperator, signal: context.clientGone };
    return { status: 200, body: { json: await checkAudioUrl(audioUrlChecks, check) } };
  });
}
