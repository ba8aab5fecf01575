// /admin/v1/plans: manages plans, and grants a workspace credits [budgets.plan-change] [budgets.credits-grant].
import { describeCredits, grantCredits } from "../../admin/money/credits.ts";
import { createPlan, deletePlan, describePlan, listPlans, type PlanRef, replacePlan } from "../../admin/money/plans.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  creditsContracts,
  deletePlanContract,
  getPlanContract,
  grantRequest,
  listPlansContract,
  planChange,
  planQuery,
  planRequest,
  postCreditsContract,
  postPlanContract,
  putPlanContract,
} from "../../contract/admin/plans.ts";
import { type Endpoint, type HandlerContext, principalOf } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { idempotencyKeyOf } from "../server/routed-headers.ts";
import { workspaceAdmin } from "../endpoints/workspace-admin.ts";
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

const LIST = "plans";

export function planEndpoints({ requireAdmin, admin }: AdminEdge): readonly Endpoint<Principal>[] {
  const planOf = (context: HandlerContext<Principal>): PlanRef => ({
    actor: principalOf(context).key.id,
    plan: pathParameter(context, "plan_id"),
  });
  return [
    {
      contract: listPlansContract,
      handle: async ({ request }) =>
        listReply(LIST, await listPlans(admin, pageRequest(LIST, readQuery(request, planQuery)))),
    },
    {
      contract: postPlanContract,
      handle: async (context) => {
        const { id: plan, ...settings } = await readFields(context.request, planRequest);
        return objectReply(await createPlan(admin, { actor: principalOf(context).key.id, plan }, settings), 201);
      },
    },
    {
      contract: getPlanContract,
      handle: async (context) => objectReply(await describePlan(admin, planOf(context).plan)),
    },
    {
      contract: putPlanContract,
      handle: async (context) => {
        const change = await readFields(context.request, planChange);
        return objectReply(await replacePlan(admin, planOf(context), preconditionOf(context), change));
      },
    },
    {
      contract: deletePlanContract,
      handle: async (context) => {
        const target = planOf(context);
        await deletePlan(admin, target, preconditionOf(context));
        return deletedReply("plan", target.plan);
      },
    },
    {
      contract: postCreditsContract,
      handle: async (context) => {
        const workspace = await workspaceAdmin(requireAdmin, context);
        const grant = await readFields(context.request, grantRequest);
        const idempotencyKey = idempotencyKeyOf(context.request.headers);
        const { view, isReplay } = await grantCredits(admin, workspace, { ...grant, idempotencyKey });
        const headers = isReplay ? { "x-svc-idempotent-replay": "true" } : {};
        return { status: 201, headers, body: { json: view } };
      },
    },
  ];
}

export function getWorkspaceCredits({ requireAdmin, admin }: AdminEdge): MirroredEndpoint {
  return mirroredEndpoint(creditsContracts, async (context) => {
    const { workspaceId } = await workspaceAdmin(requireAdmin, context);
    return { status: 200, body: { json: await describeCredits(admin, workspaceId) } };
  });
}
