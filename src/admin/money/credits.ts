// A workspace's credits [budgets.credits-grant]: what its plan includes, what the operator granted in addition, and the balance.
import { createHash } from "node:crypto";
import { keyReused } from "../../contract/idempotency-key.ts";
import { newId, type WorkspaceId } from "../../contract/ids.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { CreditsView } from "../../contract/admin/plans.ts";
import { windowStart, resetsAt } from "../../metering/budget.ts";
import { formatUsd, parseUsd } from "../../metering/money.ts";
import { writeAudit } from "../../storage/audit-log.ts";
import { readWindows } from "../../metering/store/budget-windows.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import { lockDirectory } from "../../storage/directory-state.ts";
import { insertGrant, readGrant, readGranted } from "../../metering/store/credit-grants.ts";
import { putPlanBudgets } from "../../metering/store/plan-budgets.ts";
import { lockPlanOf, readPlanTerms } from "../../metering/store/plans.ts";
import type { WorkspaceRef } from "../apps.ts";
import { noSuch } from "../refusals.ts";
import type { AdminServices } from "../services.ts";

export interface Grant {
  readonly amount_usd: string;
  readonly note: string;
  /** At most one grant is made per key and workspace. Null: not deduplicated. */
  readonly idempotencyKey: string | null;
}

export interface CreditGrant {
  readonly view: CreditsView;
  /** True: the grant was made earlier, and nothing was granted now. */
  readonly isReplay: boolean;
}

/** Allowed for workspaces of the configuration file too, because grants are not part of the file. */
export async function grantCredits(
  { database }: AdminServices,
  { workspaceId, actor }: WorkspaceRef,
  { amount_usd: amount, note, idempotencyKey }: Grant,
): Promise<CreditGrant> {
  const isDeduction = amount.startsWith("-");
  const size = parseUsd(isDeduction ? amount.slice(1) : amount);
  if (size === null || size === 0n) throw invalidRequest("amount_usd", "`amount_usd` must be an amount other than 0.");
  return database.inWorkspace(workspaceId, async (tx) => {
    await lockDirectory(tx);
    const plan = await lockPlanOf(tx, workspaceId);
    if (plan === undefined) throw noSuch("workspace");
    const requested = { nano_usd: isDeduction ? -size : size, note };
    // Concurrent duplicates wait at the locks above, so the second one sees the first one's row.
    const key_sha256 = idempotencyKey === null ? null : createHash("sha256").update(idempotencyKey).digest();
    if (key_sha256 !== null && (await hasGrant(tx, workspaceId, key_sha256, requested)))
      return { view: await view(tx, workspaceId), isReplay: true };
    const before = await readGranted(tx, workspaceId);
    await insertGrant(tx, {
      id: newId("grant"),
      workspace_id: workspaceId,
      ...requested,
      actor_key_id: actor,
      key_sha256,
    });
    await putPlanBudgets(tx, workspaceId, plan);
    await writeAudit(tx, {
      workspaceId,
      actorKeyId: actor,
      action: "credits.granted",
      object: workspaceId,
      before: { granted_usd: formatUsd(before) },
      after: { granted_usd: formatUsd(before + requested.nano_usd), note },
    });
    return { view: await view(tx, workspaceId), isReplay: false };
  });
}

/** Throws `IDEMPOTENCY_KEY_REUSED` if a different grant was made under this key. */
async function hasGrant(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  keySha256: Buffer,
  requested: { readonly nano_usd: bigint; readonly note: string },
): Promise<boolean> {
  const existing = await readGrant(tx, workspaceId, keySha256);
  if (existing !== undefined && (existing.nano_usd !== requested.nano_usd || existing.note !== requested.note))
    throw keyReused();
  return existing !== undefined;
}

export async function describeCredits({ database }: AdminServices, workspaceId: WorkspaceId): Promise<CreditsView> {
  return database.inWorkspace(workspaceId, (tx) => view(tx, workspaceId));
}

async function view(tx: DatabaseTransaction, workspaceId: WorkspaceId): Promise<CreditsView> {
  const row = await readPlanTerms(tx, workspaceId);
  if (row === undefined) throw noSuch("workspace");
  const included = row.credits_nano_usd ?? 0n;
  const granted = await readGranted(tx, workspaceId);
  const windows = await readWindows(tx, [
    { budgetId: `${workspaceId}/credits`, windowStart: windowStart("total", row.now) },
    { budgetId: `${workspaceId}/allowance`, windowStart: windowStart("month", row.now) },
  ]);
  const credits = windows.find(({ budget_id: id }) => id.endsWith("/credits"));
  const allowance = windows.find(({ budget_id: id }) => id.endsWith("/allowance"));
  const spent = credits?.spent_nano_usd ?? 0n;
  const reserved = credits?.reserved_nano_usd ?? 0n;
  return {
    object: "credits",
    workspace_id: workspaceId,
    plan: row.plan_id,
    plan_credits_usd: formatUsd(included),
    granted_usd: formatUsd(granted),
    spent_usd: formatUsd(spent),
    reserved_usd: formatUsd(reserved),
    balance_usd: formatUsd(included + granted - spent - reserved),
    allowance:
      row.monthly_chat_tokens === null
        ? null
        : {
            monthly_chat_tokens: Number(row.monthly_chat_tokens),
            spent_tokens: Number(allowance?.spent_tokens ?? 0n),
            reserved_tokens: Number(allowance?.reserved_tokens ?? 0n),
            resets_at: resetsAt("month", row.now)?.toISOString() ?? "",
          },
  };
}
