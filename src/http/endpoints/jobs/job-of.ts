// Determines the owner of the jobs that a request may access (the workspace and app of its key), and which job its path names.
import type { Principal } from "../../../auth/principal.ts";
import { appOf } from "../../../gateway/account/app-of.ts";
import type { JobOwner } from "../../../jobs/read/read-job.ts";
import { type HandlerContext, principalOf } from "../../server/endpoint.ts";
import { pathParameter } from "../../server/path-parameter.ts";

export function jobOwner(context: HandlerContext<Principal>): JobOwner {
  const principal = principalOf(context);
  return { workspaceId: principal.workspace.id, appId: appOf(principal).id };
}

export function jobOf(context: HandlerContext<Principal>): { readonly owner: JobOwner; readonly id: string } {
  return { owner: jobOwner(context), id: pathParameter(context, "job_id") };
}
