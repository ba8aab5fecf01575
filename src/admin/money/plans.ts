// Plans [budgets.plan-change]: a change applies immediately to every workspace on the plan. It holds the directory's lock, like everything that assigns a
// plan or grants credits, because the limit is the sum of both.
import type { Selectable } from "kysely";
import { GatewayError } from "../../contract/errors.ts";
import { brand } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { PlanView } from "../../contract/admin/plans.ts";
import { pageOf } from "../../lib/list-page.ts";
import { formatUsd, parseUsd } from "../../metering/money.ts";
import type { Transacting } from "../../storage/database.ts";
import { lockDirectory } from "../../storage/directory-state.ts";
import { putPlanBudgets } from "../../storage/plan-budgets.ts";
import { operatorsSight } from "../../storage/system.ts";
import type { Tables } from "../../storage/tables.ts";
import { auditChange, type Change } from "../audit/audit-change.ts";
import { refuseManagedByFile, shownManager } from "../managed.ts";
import { allowMatch, type Precondition, requireMatch } from "../precondition.ts";
import { noSuch, taken } from "../refusals.ts";
import type { Acting, AdminServices, Page, PageRequest } from "../services.ts";

type PlanRow = Selectable<Tables["plans"]>;

export interface GivenPlan {
  readonly monthly_chat_tokens: number;
  readonly credits_usd: string;
}
export interface OfPlan extends Acting {
  readonly plan: string;
}

export async function createPlan(
  { database }: AdminServices,
  { actor, plan }: OfPlan,
  input: GivenPlan,
): Promise<PlanView> {
  const columns = columnsOf(input);
  return operatorsSight(database).transaction(async (tx) => {
    await lockDirectory(tx);
    const row = await tx
      .insertInto("plans")
      .values({ id: plan, ...columns, managed_by: "api" })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw taken("plan");
    await record(tx, { actor, plan, action: "plan.created", before: null, after: row });
    return view(row);
  });
}

export async function listPlans({ database }: AdminServices, { limit, after }: PageRequest): Promise<Page<PlanView>> {
  const all = operatorsSight(database).db.selectFrom("plans").selectAll();
  const rows = await (after === null ? all : all.where("id", ">", after))
    .orderBy("id")
    .limit(limit + 1)
    .execute();
  const { page, nextCursor } = pageOf(rows, limit);
  return { data: page.map(view), end: nextCursor };
}

export async function describePlan({ database }: AdminServices, plan: string): Promise<PlanView> {
  const row = await operatorsSight(database)
    .db.selectFrom("plans")
    .selectAll()
    .where("id", "=", plan)
    .executeTakeFirst();
  if (row === undefined) throw noSuch("plan");
  return view(row);
}

export async function replacePlan(
  { database }: AdminServices,
  { actor, plan }: OfPlan,
  precondition: Precondition,
  input: GivenPlan,
): Promise<PlanView> {
  const columns = columnsOf(input);
  return operatorsSight(database).transaction(async (tx) => {
    await lockDirectory(tx);
    const before = await lockPlan(tx, plan);
    requireMatch(precondition, view(before));
    const after = await tx
      .updateTable("plans")
      .set(columns)
      .where("id", "=", plan)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (JSON.stringify(view(before)) === JSON.stringify(view(after))) return view(after);
    const workspaces = await tx.selectFrom("workspaces").select("id").where("plan", "=", plan).orderBy("id").execute();
    for (const { id } of workspaces) await putPlanBudgets(tx, brand("workspace", id), plan);
    await record(tx, { actor, plan, action: "plan.changed", before, after });
    return view(after);
  });
}

export async function deletePlan(
  { database }: AdminServices,
  { actor, plan }: OfPlan,
  precondition: Precondition,
): Promise<void> {
  await operatorsSight(database).transaction(async (tx) => {
    await lockDirectory(tx);
    const before = await lockPlan(tx, plan);
    allowMatch(precondition, view(before));
    const workspace = await tx.selectFrom("workspaces").select("id").where("plan", "=", plan).executeTakeFirst();
    if (workspace !== undefined) {
      throw new GatewayError("CONFLICT", {
        message: "Workspaces use this plan. Assign another plan to them first.",
        details: { reason: "in_use" },
      });
    }
    await tx.deleteFrom("plans").where("id", "=", plan).execute();
    await record(tx, { actor, plan, action: "plan.deleted", before, after: null });
  });
}

async function lockPlan(tx: Transacting, plan: string): Promise<PlanRow> {
  const row = await tx.selectFrom("plans").selectAll().where("id", "=", plan).forUpdate().executeTakeFirst();
  if (row === undefined) throw noSuch("plan");
  refuseManagedByFile(row);
  return row;
}

function columnsOf({ monthly_chat_tokens, credits_usd }: GivenPlan) {
  const credits_nano_usd = parseUsd(credits_usd);
  if (credits_nano_usd === null) throw invalidRequest("credits_usd", "`credits_usd` is out of range.");
  return { monthly_chat_tokens, credits_nano_usd };
}

async function record(
  tx: Transacting,
  { plan, ...change }: OfPlan & Pick<Change<PlanRow>, "action" | "before" | "after">,
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
