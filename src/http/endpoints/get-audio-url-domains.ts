// GET /workspace/{tenant_id}/audio-url-domains: returns the domains from which the workspace may fetch audio.
import { describeDomains } from "../../admin/audio-url-domains.ts";
import type { Principal } from "../../auth/principal.ts";
import { getAudioUrlDomainsContract } from "../../contract/admin/audio-url-domains.ts";
import { objectReply } from "../admin/frame.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { workspaceAdmin } from "./workspace-admin.ts";
import type { DomainsEdge } from "./put-audio-url-domains.ts";

export function getAudioUrlDomains({ requireAdmin, domains }: DomainsEdge): Endpoint<Principal> {
  return {
    contract: getAudioUrlDomainsContract,
    handle: async (context) => {
      const { workspaceId } = await workspaceAdmin(requireAdmin, context);
      return objectReply(await describeDomains(domains, workspaceId));
    },
  };
}
