// GET /admin/v1/audit: lists the audit log and verifies its hash chain, for all workspaces or one [tenancy.audit-read].
import { listAudit } from "../../admin/audit/list-audit.ts";
import { noSuch } from "../../admin/refusals.ts";
import { chainOf, verifyAudit } from "../../admin/audit/verify-audit.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  auditQuery,
  listAuditContract,
  verificationQuery,
  verifyAuditContract,
  workspaceAuditContracts,
  workspaceAuditQuery,
} from "../../contract/admin/audit.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "audit";

export function getAudit({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listAuditContract,
    handle: async (context) => {
      const { workspace, ...query } = readQuery(context.request, auditQuery);
      const owner =
        workspace === undefined || workspace === "platform"
          ? workspace
          : await requireAdmin(principalOf(context), workspace);
      return listReply(LIST, await listAudit(admin, { owner, ...filterOf(query) }));
    },
  };
}

export function getAuditVerification({ admin, readCheckpoint }: AdminEdge): Endpoint<Principal> {
  return {
    contract: verifyAuditContract,
    handle: async ({ request }) => {
      const { workspace } = readQuery(request, verificationQuery);
      const checkpoint = await readCheckpoint();
      const chain = workspace === undefined ? null : await chainOf(admin.database, workspace, checkpoint);
      if (chain === null && workspace !== undefined) throw noSuch("workspace");
      return { status: 200, body: { json: await verifyAudit(admin.database, { chain, checkpoint }) } };
    },
  };
}

export function getWorkspaceAudit({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceAuditContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const query = readQuery(context.request, workspaceAuditQuery);
    return listReply(LIST, await listAudit(admin, { owner: workspaceId, ...filterOf(query) }));
  });
}

interface Query {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
}

function filterOf({ from, to, action, actor, target, ...page }: Query) {
  return {
    ...pageRequest(LIST, page, (position) => /^\d{1,18}$/u.test(position)),
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
    action: action ?? null,
    actor: actor ?? null,
    target: target ?? null,
  };
}
