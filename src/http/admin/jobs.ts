// GET /admin/v1/jobs: lists jobs as administrators see them, of all workspaces or one [admin.jobs].
import type { Principal } from "../../auth/principal.ts";
import {
  jobsQuery,
  listAllJobsContract,
  workspaceJobsContracts,
  workspaceJobsQuery,
} from "../../contract/admin/job-list.ts";
import { listJobsOf } from "../../jobs/read/read-job.ts";
import { type Endpoint, principalOf } from "../server/endpoint.ts";
import { readQuery } from "../body/read-fields.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
import { type AdminEdge, listReply, type MirroredEndpoint, mirroredEndpoint, pageRequest } from "./frame.ts";

const LIST = "jobs";

export function listAllJobs({ requireAdmin, admin }: AdminEdge): Endpoint<Principal> {
  return {
    contract: listAllJobsContract,
    handle: async (context) => {
      const { workspace, limit, cursor, ...question } = readQuery(context.request, jobsQuery);
      const workspaceId = workspace === undefined ? null : await requireAdmin(principalOf(context), workspace);
      const page = pageRequest(LIST, { limit, cursor });
      return listReply(LIST, await listJobsOf(admin.database, workspaceId, question, page));
    },
  };
}

export function listWorkspaceJobs({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(workspaceJobsContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    const { limit, cursor, ...question } = readQuery(context.request, workspaceJobsQuery);
    const page = pageRequest(LIST, { limit, cursor });
    return listReply(LIST, await listJobsOf(admin.database, workspaceId, question, page));
  });
}
