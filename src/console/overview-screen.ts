// The overview after sign-in: setup steps, alerts, and usage. At most nine calls in parallel, then the names of workspaces if needed.
import type { AppView } from "../contract/admin/apps.ts";
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { ListedJobView } from "../contract/admin/job-list.ts";
import type { KeyView } from "../contract/admin/keys.ts";
import type { ProviderDeletionView } from "../contract/admin/provider-deletions.ts";
import type { ProviderHealth } from "../contract/admin/provider-health.ts";
import type { ListedRequestView } from "../contract/admin/request-list.ts";
import type { RetirementView } from "../contract/admin/retirements.ts";
import type { RouteView } from "../contract/admin/routes.ts";
import type { WorkspaceUsage } from "../contract/usage.ts";
import type { Outcome } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { applyPart } from "./apply-part.ts";
import {
  budgetsNearEnd,
  concern,
  concernsView,
  failedDeletions,
  failedDeliveries,
  failedJobs,
  failedRequests,
  nextRetirements,
  restingModels,
} from "./concerns.ts";
import type { Delivery } from "./delivery-attempts.ts";
import { platformSteps, workspaceSteps } from "./first-steps.ts";
import { overviewFigures } from "./overview-figures.ts";
import { NO_NAMES, ownersOf } from "./names.ts";
import { failureLine, tried } from "./tried.ts";
import type { Page, Visit } from "./visit.ts";
import { part } from "./words.ts";

const SANDBOX = "Requests use the sandbox, which returns simulated text. No provider is connected.";
/** The last 30 days, including today. */
const USAGE = "/usage?group_by=day";
const FAILED = "/requests?outcome=failed&limit=5";
const FAILED_JOBS = "/jobs?status=failed&limit=5";
const RETIREMENTS = "/retirements?within_days=90&limit=5";
const KEPT = "/provider-deletions?status=failed&limit=5";

export function showOverview(visit: Visit): Promise<readonly Node[]> {
  return visit.scope.workspace === null ? showPlatform(visit) : showWorkspace(visit);
}

async function showPlatform(visit: Visit): Promise<readonly Node[]> {
  const [connections, routes, usage, requests, jobs, deliveries, health, deletions, retirements] = await Promise.all([
    tried<Page<ConnectionView>>(visit, "/connections?limit=100"),
    tried<Page<RouteView>>(visit, "/routes?limit=100"),
    tried<WorkspaceUsage>(visit, USAGE),
    tried<Page<ListedRequestView>>(visit, FAILED),
    tried<Page<ListedJobView>>(visit, FAILED_JOBS),
    tried<Page<Delivery>>(visit, "/deliveries?status=failed&limit=5"),
    // Only circuits and pauses are needed, so the window is as short as possible.
    tried<ProviderHealth>(visit, "/health/providers?minutes=1"),
    tried<Page<ProviderDeletionView>>(visit, KEPT),
    tried<Page<RetirementView>>(visit, RETIREMENTS),
  ]);
  const owners = health.ok ? await ownersOf(visit, [...health.data.circuits, ...health.data.pauses]) : NO_NAMES;
  return [
    ...firstPlatformSteps(visit, connections, routes, usage),
    ...concernsView([
      concern("Failed requests", requests, (page) => failedRequests(visit, page)),
      concern("Failed jobs", jobs, (page) => failedJobs(visit, page)),
      concern("Webhook deliveries", deliveries, (page) => failedDeliveries(visit, page)),
      concern("Model retirements", retirements, (page) => nextRetirements(visit, page)),
      concern("Provider health", health, (report) => restingModels(visit, report, owners)),
      concern("Provider deletions", deletions, (page) => failedDeletions(visit, page)),
    ]),
    figuresPart(visit, usage),
    applyPart(visit),
  ];
}

function firstPlatformSteps(
  visit: Visit,
  connections: Outcome<Page<ConnectionView>>,
  routes: Outcome<Page<RouteView>>,
  usage: Outcome<WorkspaceUsage>,
): readonly Node[] {
  if (!connections.ok) return [part("Getting started", failureLine(connections))];
  if (!routes.ok) return [part("Getting started", failureLine(routes))];
  // The error is shown with the usage figures.
  if (!usage.ok) return [];
  const setUp = { connections: connections.data, routes: routes.data, usage: usage.data };
  const { nodes, isSandboxAlone } = platformSteps(visit, setUp);
  return isSandboxAlone ? [notice(SANDBOX), ...nodes] : nodes;
}

async function showWorkspace(visit: Visit): Promise<readonly Node[]> {
  const [apps, keys, usage, requests, jobs, deliveries, deletions, retirements] = await Promise.all([
    tried<Page<AppView>>(visit, "/apps?limit=100"),
    tried<Page<KeyView>>(visit, "/keys?role=member&state=active&limit=100"),
    tried<WorkspaceUsage>(visit, USAGE),
    tried<Page<ListedRequestView>>(visit, FAILED),
    tried<Page<ListedJobView>>(visit, FAILED_JOBS),
    tried<Page<Delivery>>(visit, "/stt-webhook/deliveries?status=failed&limit=5"),
    tried<Page<ProviderDeletionView>>(visit, KEPT),
    tried<Page<RetirementView>>(visit, RETIREMENTS),
  ]);
  return [
    ...firstWorkspaceSteps(visit, apps, keys, usage),
    ...(usage.ok && isSandboxAlone(usage.data)
      ? [notice(`All calls in the last 30 days were simulated. ${SANDBOX}`)]
      : []),
    ...concernsView([
      concern("Failed requests", requests, (page) => failedRequests(visit, page)),
      concern("Failed jobs", jobs, (page) => failedJobs(visit, page)),
      concern("Webhook deliveries", deliveries, (page) => failedDeliveries(visit, page)),
      concern("Provider deletions", deletions, (page) => failedDeletions(visit, page)),
      concern("Model retirements", retirements, (page) => nextRetirements(visit, page)),
      // The error is shown with the usage figures.
      ...(usage.ok ? [budgetsNearEnd(visit, usage.data, apps.ok ? apps.data.data : [])] : []),
    ]),
    figuresPart(visit, usage),
  ];
}

function firstWorkspaceSteps(
  visit: Visit,
  apps: Outcome<Page<AppView>>,
  keys: Outcome<Page<KeyView>>,
  usage: Outcome<WorkspaceUsage>,
): readonly Node[] {
  if (!apps.ok) return [part("Getting started", failureLine(apps))];
  if (!keys.ok) return [part("Getting started", failureLine(keys))];
  // The error is shown with the usage figures.
  if (!usage.ok) return [];
  return workspaceSteps(visit, { apps: apps.data, keys: keys.data, usage: usage.data });
}

/** Without any call it is unknown where they would go. */
function isSandboxAlone({ totals }: WorkspaceUsage): boolean {
  return totals.length > 0 && totals.every(({ billing_class: billing }) => billing === "simulated");
}

function figuresPart(visit: Visit, usage: Outcome<WorkspaceUsage>): HTMLElement {
  return part("Usage", ...(usage.ok ? overviewFigures(visit, usage.data) : [failureLine(usage)]));
}

const notice = (text: string): HTMLElement => element("p", { class: "notice" }, text);
