// …/apps/{app_id}/budgets and …/budgets/{period}: manages an app's budgets, for a workspace's administrators and the operator [budgets.administrators].
import { deleteBudget, describeBudget, listBudgets, type BudgetRef, putBudget } from "../../admin/money/budgets.ts";
import { noSuch } from "../../admin/refusals.ts";
import type { Principal } from "../../auth/principal.ts";
import { BUDGET_CONTRACTS, budgetChange } from "../../contract/admin/budgets.ts";
import { PERIODS } from "../../contract/settings/app.ts";
import type { HandlerContext } from "../server/endpoint.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields } from "../body/read-fields.ts";
import { appOf } from "./apps.ts";
import {
  type AdminEdge,
  deletedReply,
  type MirroredEndpoint,
  mirroredEndpoint,
  objectReply,
  preconditionOf,
} from "./frame.ts";

export function budgetEndpoints({ requireAdmin, admin }: AdminEdge): readonly MirroredEndpoint[] {
  const budgetOf = async (context: HandlerContext<Principal>): Promise<BudgetRef> => {
    const app = await appOf(requireAdmin, context);
    const period = PERIODS.find((candidate) => candidate === pathParameter(context, "period"));
    if (period === undefined) throw noSuch("budget");
    return { ...app, period };
  };
  return [
    mirroredEndpoint(BUDGET_CONTRACTS.list, async (context) => {
      const data = await listBudgets(admin, await appOf(requireAdmin, context));
      return { status: 200, body: { json: { object: "list", data } } };
    }),
    mirroredEndpoint(BUDGET_CONTRACTS.read, async (context) =>
      objectReply(await describeBudget(admin, await budgetOf(context))),
    ),
    mirroredEndpoint(BUDGET_CONTRACTS.put, async (context) => {
      const budget = await budgetOf(context);
      const change = await readFields(context.request, budgetChange);
      const { view, isNew } = await putBudget(admin, budget, preconditionOf(context), change);
      return objectReply(view, isNew ? 201 : 200);
    }),
    mirroredEndpoint(BUDGET_CONTRACTS.remove, async (context) =>
      deletedReply("budget", await deleteBudget(admin, await budgetOf(context), preconditionOf(context))),
    ),
  ];
}
