// Plans [budgets.plan-change]: a change applies immediately to every workspace on the plan. It takes the same database lock as assigning a plan and granting
// credits, because a workspace's limit is the sum of both.
import { GatewayError } from "../../contract/errors.ts";
import { brand } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { PlanView } from "../../contract/admin/plans.ts";
import { pageOf } from "../../lib/list-page.ts";
import { formatUsd, parseUsd } from "../../metering/money.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { lockDirectory } from "../../storage/directory-state.ts";
import { putPlanBudgets } from "../../metering/store/plan-budgets.ts";
import {
  deletePlanRow,
  insertPlan,
  isPlanInUse,
  listPlanRows,
  listWorkspacesOnPlan,
  lockPlan,
  type PlanRow,
  readPlan,
  updatePlan,
} from "../../metering/store/plans.ts";
import { bypassRls } from "../../storage/system.ts";
import { auditChange, type Change } from "../audit/audit-change.ts";
import { refuseManagedByFile, shownManager } from "../refuse-managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { noSuch, alreadyExists } from "../refusals.ts";
import type { AdminActor, AdminServices, Page, PageRequest } from "../services.ts";

export interface PlanInput {
  readonly monthly_chat_tokens: number;
  readonly credits_usd: string;
}
export interface PlanRef extends AdminActor {
  readonly plan: string;
}

export async function createPlan(
  { database }: AdminServices,
  { actor, plan }: PlanRef,
  input: PlanInput,
): Promise<PlanView> {
  const columns = columnsOf(input);
  return bypassRls(database, "operator").transaction(async (tx) => {
    await lockDirectory(tx);
    const row = await insertPlan(tx, { id: plan, ...columns, managed_by: "api" });
    if (row === undefined) throw alreadyExists("plan");
    await record(tx, { actor, plan, action: "plan.created", before: null, after: row });
    return view(row);
  });
}

export async function listPlans({ database }: AdminServices, { limit, after }: PageRequest): Promise<Page<PlanView>> {
  const rows = await listPlanRows(bypassRls(database, "operator").db, { after, limit: limit + 1 });
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(view), end: nextCursor };
}

export async function describePlan({ database }: AdminServices, plan: string): Promise<PlanView> {
  const row = await readPlan(bypassRls(database, "operator").db, plan);
  if (row === undefined) throw noSuch("plan");
  return view(row);
}

export async function replacePlan(
  { database }: AdminServices,
  { actor, plan }: PlanRef,
  precondition: Precondition,
  input: PlanInput,
): Promise<PlanView> {
  const columns = columnsOf(input);
  return bypassRls(database, "operator").transaction(async (tx) => {
    await lockDirectory(tx);
    const before = await requirePlan(tx, plan);
    requireMatch(precondition, view(before));
    const after = await updatePlan(tx, plan, columns);
    if (JSON.stringify(view(before)) === JSON.stringify(view(after))) return view(after);
    for (const id of await listWorkspacesOnPlan(tx, plan)) await putPlanBudgets(tx, brand("workspace", id), plan);
    await record(tx, { actor, plan, action: "plan.changed", before, after });
    return view(after);
  });
}

export async function deletePlan(
  { database }: AdminServices,
  { actor, plan }: PlanRef,
  precondition: Precondition,
): Promise<void> {
  await bypassRls(database, "operator").transaction(async (tx) => {
    await lockDirectory(tx);
    const before = await requirePlan(tx, plan);
    allowMatch(precondition, view(before));
    if (await isPlanInUse(tx, plan)) {
      throw new GatewayError("CONFLICT", {
        message: "Workspaces use this plan. Assign another plan to them first.",
        details: { reason: "in_use" },
      });
    }
    await deletePlanRow(tx, plan);
    await record(tx, { actor, plan, action: "plan.deleted", before, after: null });
  });
}

/** Locks the plan. Throws 404, and 409 for objects of the file. */
async function requirePlan(tx: DatabaseTransaction, plan: string): Promise<PlanRow> {
  const row = await lockPlan(tx, plan);
  if (row === undefined) throw noSuch("plan");
  refuseManagedByFile(row);
  return row;
}

function columnsOf({ monthly_chat_tokens, credits_usd }: PlanInput) {
  const credits_nano_usd = parseUsd(credits_usd);
  if (credits_nano_usd === null) throw invalidRequest("credits_usd", "`credits_usd` is out of range.");
  return { monthly_chat_tokens, credits_nano_usd };
}

async function record(
  tx: DatabaseTransaction,
  { plan, ...change }: PlanRef & Pick<Change<PlanRow>, "action" | "before" | "after">,
): Promise<void> {
  await auditChange(tx, { ...change, workspaceId: null, object: plan }, (row) => {
    const { monthly_chat_tokens, credits_usd } = view(row);
    return { monthly_chat_tokens, credits_usd };
  });
}

function view(row: PlanRow): PlanView {
  return {
    object: "plan",
    id: row.id,
    monthly_chat_tokens: Number(row.monthly_chat_tokens),
    credits_usd: formatUsd(row.credits_nano_usd),
    managed_by: shownManager(row.managed_by),
  };
}
