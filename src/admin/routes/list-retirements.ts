// GET /admin/v1/retirements and the same for one workspace: a page of the retirement radar, with a proposal for each loss [retirement.scope].
import { RETIREMENT_LIMITS, type RetirementView } from "../../contract/admin/retirements.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import type { ListServices, Retirement } from "../../gateway/retirement/list-retirements.ts";
import { type ProposalServices, proposeTarget } from "../../gateway/retirement/propose-target.ts";
import { retirementText } from "../../gateway/retirement/retirement-text.ts";
import { changeOn, livesOf, redirectOf } from "../../gateway/retirement/route-on-day.ts";
import { readRetirements } from "../../gateway/retirement/read-retirements.ts";
import { createTickBudget } from "../../lib/concurrency/tick-budget.ts";
import { pageOf } from "../../lib/list-page.ts";
import { daysUntil } from "../../providers/life-status.ts";
import type { Database } from "../../storage/database.ts";
import type { Page, PageRequest } from "../services.ts";

type Target = Retirement["targets"][number];

export interface RetirementServices extends ProposalServices, ListServices {
  readonly database: Database;
  readonly modelClock: () => Date;
}

export interface RetirementFilter extends PageRequest {
  /** Null: of all workspaces, for the operator. */
  readonly workspace: WorkspaceId | null;
  /** Null: without a limit. */
  readonly withinDays: number | null;
}

export async function pageOfRetirements(
  services: RetirementServices,
  filter: RetirementFilter,
): Promise<Page<RetirementView>> {
  const { workspace, withinDays, after, limit } = filter;
  const nowMs = services.modelClock().getTime();
  const all = await readRetirements(services, workspace);
  const listed = all.filter(
    ({ id, date }) => (after === null || id > after) && (withinDays === null || daysUntil(date, nowMs) <= withinDays),
  );
  const { page, nextCursor } = pageOf(listed, limit);
  const budget = createTickBudget();
  const data: RetirementView[] = [];
  for (const retirement of page) {
    if (budget.isSpent()) await budget.renew();
    data.push(view(services, retirement, nowMs));
  }
  return { data, end: nextCursor };
}

function view(services: ProposalServices, retirement: Retirement, nowMs: number): RetirementView {
  const { apps, date, route } = retirement;
  const { proposal, unavailableFeatures } = proposeTarget(services, retirement);
  return {
    object: "retirement",
    id: retirement.id,
    kind: retirement.kind,
    date,
    days_left: daysUntil(date, nowMs),
    evidence: retirement.evidence,
    message: retirementText(retirement, nowMs),
    workspace_id: retirement.workspace,
    route: route.id,
    route_owner: retirement.isSharedRoute ? "platform" : "workspace",
    capability: retirement.capability,
    feature: retirement.feature,
    features: [...retirement.features],
    languages: retirement.languages === null ? null : [...retirement.languages],
    data_policy: retirement.dataPolicy,
    targets: retirement.targets.map((target) => ({ ...named(target), ...endOf(target, date) })),
    purposes: retirement.purposes.map(({ label, isRefused }) => ({ purpose: label, refused: isRefused })),
    apps: apps
      .slice(0, RETIREMENT_LIMITS.apps)
      .map(({ workspace, id, slug, uses }) => ({ workspace_id: workspace, app_id: id, app: slug, uses: [...uses] })),
    apps_total: apps.length,
    proposal:
      proposal === null
        ? null
        : {
            target: named(proposal.target),
            keeps: [...proposal.keeps],
            lacks: [...proposal.lacks],
            dry_run: proposal.dryRun,
          },
    unavailable_features: [...unavailableFeatures],
  };
}

function named({ position, connection, provider, model }: Target) {
  return { position, connection, provider, model };
}

function endOf(target: Target, date: string): { readonly answered_by: string | null; readonly source: string | null } {
  const redirect = redirectOf(target);
  const end = changeOn(target, date);
  return {
    answered_by: redirect !== undefined && redirect === end ? redirect.model : null,
    source: end?.source ?? livesOf(target)[0]?.source ?? null,
  };
}
