// Stores what a workspace's plan grants (allowance and credits) as budgets of the whole workspace.
import type { WorkspaceId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { readGranted } from "./credit-grants.ts";
import { readPlan } from "./plans.ts";
import { upsertBudget } from "./upsert-budget.ts";

/** What was spent stays spent when the plan changes. A null `planId` means no plan and no credit check. False: there is no such plan. */
export async function putPlanBudgets(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  planId: string | null,
): Promise<boolean> {
  if (planId === null) {
    await tx.deleteFrom("budgets").where("workspace_id", "=", workspaceId).where("kind", "<>", "budget").execute();
    return true;
  }
  const plan = await readPlan(tx, planId);
  if (plan === undefined) return false;
  const included = plan.credits_nano_usd + (await readGranted(tx, workspaceId));
  const grants = [
    { kind: "allowance", period: "month", limit_tokens: plan.monthly_chat_tokens, limit_nano_usd: null },
    { kind: "credits", period: "total", limit_tokens: null, limit_nano_usd: included > 0n ? included : 0n },
  ] as const;
  for (const { kind, period, ...limits } of grants) {
    const name = { id: `${workspaceId}/${kind}`, workspace_id: workspaceId, kind, period };
    await upsertBudget(tx, { ...name, ...limits, managed_by: "plan" }, limits);
  }
  return true;
}
