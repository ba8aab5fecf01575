// Whose jobs a request is about, and which one its path names.
import type { Principal } from "../auth/principal.ts";
import { appOf } from "../gateway/audio-call.ts";
import type { JobOwner } from "../jobs/read-job.ts";
import { type HandlerContext, principalOf } from "./endpoint.ts";

export function jobOwner(context: HandlerContext<Principal>): JobOwner {
  const principal = principalOf(context);
  return { workspaceId: principal.workspace.id, appId: appOf(principal).id };
}

export function jobOf(context: HandlerContext<Principal>): { readonly owner: JobOwner; readonly id: string } {
  const { job_id: id = "" } = context.request.params as { readonly job_id?: string };
  return { owner: jobOwner(context), id };
}
