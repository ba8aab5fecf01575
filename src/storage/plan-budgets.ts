// What a workspace's plan grants, as budgets of the whole workspace (spec 2.5; contract 9).
import type { WorkspaceId } from "../contract/ids.ts";
import type { Transacting } from "./database.ts";

/** What was drawn stays drawn when the plan changes. `planId` null: no plan, hence no credit check. False: no such plan. */
export async function putPlanBudgets(
  tx: Transacting,
  workspaceId: WorkspaceId,
  planId: string | null,
): Promise<boolean> {
  if (planId === null) {
    await tx.deleteFrom("budgets").where("workspace_id", "=", workspaceId).where("kind", "<>", "budget").execute();
    return true;
  }
  const plan = await tx.selectFrom("plans").selectAll().where("id", "=", planId).executeTakeFirst();
  if (plan === undefined) return false;
  const grants = [
    { kind: "allowance", period: "month", limit_tokens: plan.monthly_chat_tokens, limit_nano_usd: null },
    { kind: "credits", period: "total", limit_tokens: null, limit_nano_usd: plan.credits_nano_usd },
  ] as const;
  for (const { kind, period, ...limits } of grants) {
    await tx
      .insertInto("budgets")
      .values({ id: `${workspaceId}/${kind}`, workspace_id: workspaceId, kind, period, ...limits, managed_by: "plan" })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(limits))
      .execute();
  }
  return true;
}
