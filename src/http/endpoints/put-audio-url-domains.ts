// PUT /workspace/{tenant_id}/audio-url-domains: replaces the domains from which the workspace may fetch audio.
import { type AudioUrlDomainsServices, replaceDomains } from "../../admin/audio-url-domains.ts";
import type { Principal } from "../../auth/principal.ts";
import { audioUrlDomainsRequest, putAudioUrlDomainsContract } from "../../contract/admin/audio-url-domains.ts";
import { objectReply, preconditionOf } from "../admin/frame.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { readFields } from "../body/read-fields.ts";
import { type RequireAdmin, workspaceAdmin } from "./workspace-admin.ts";

export interface DomainsEdge {
  readonly requireAdmin: RequireAdmin;
  readonly domains: AudioUrlDomainsServices;
}

export function putAudioUrlDomains({ requireAdmin, domains }: DomainsEdge): Endpoint<Principal> {
  return {
    contract: putAudioUrlDomainsContract,
    handle: async (context) => {
      const admin = await workspaceAdmin(requireAdmin, context);
      const precondition = preconditionOf(context);
      const settings = await readFields(context.request, audioUrlDomainsRequest);
      return objectReply(await replaceDomains(domains, { ...admin, precondition, domains: settings.domains }));
    },
  };
}
