// Reads whether a workspace's plan has funds left [budgets.plan-allowance]: monthly tokens for plain chat, credits for everything else.
import type { Kysely } from "kysely";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import { readBudgets } from "./store/budgets.ts";
import { readPlanOf } from "./store/plans.ts";
import type { Tables } from "../storage/schema/tables.ts";
import { headroomOf } from "./budget.ts";
import { withWindows } from "./read-budgets.ts";

export interface PlanFunds {
  readonly hasCredits: boolean;
  readonly hasAllowance: boolean;
}

/** Null: the workspace has no plan, so nothing is checked. */
export async function readPlanFunds(db: Kysely<Tables>, workspaceId: WorkspaceId): Promise<PlanFunds | null> {
  if ((await readPlanOf(db, workspaceId)) === null) return null;
  const noApp = brand("app", "");
  const rows = await readBudgets(db, [
    { workspaceId, appId: noApp, funding: "credits" },
    { workspaceId, appId: noApp, funding: "allowance" },
  ]);
  const funds = await withWindows(db, rows);
  return {
    hasCredits: funds.some((each) => each.kind === "credits" && (headroomOf(each).nanoUsd ?? 1n) > 0n),
    hasAllowance: funds.some((each) => each.kind === "allowance" && (headroomOf(each).tokens ?? 1n) > 0n),
  };
}
