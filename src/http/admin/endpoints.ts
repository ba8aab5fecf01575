// Lists all administration endpoints: the operator's for the admin listener, and a workspace administrator's for the public one. A mirrored endpoint
// is one line in `mirroredEndpoints` [admin.mirrored].
import type { Principal } from "../../auth/principal.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { appEndpoints } from "./apps.ts";
import { getAudit, getAuditVerification, getWorkspaceAudit } from "./audit.ts";
import { postAudioUrlCheck } from "./audio-url-check.ts";
import { postApply } from "./apply.ts";
import { connectionEndpoints } from "./connections.ts";
import type { EverywhereEndpoint } from "./owner-endpoints.ts";
import type { AdminEdge, MirroredEndpoint } from "./frame.ts";
import { localModelEndpoints } from "./local-models.ts";
import { modelsEndpoint } from "./models.ts";
import { explainEndpoint } from "./explain.ts";
import { pauseEndpoints } from "./pauses.ts";
import { getProviderHealth } from "./provider-health.ts";
import { routeEndpoints } from "./routes.ts";
import { getAnyRequest, getWorkspaceRequest, listRequests, listWorkspaceRequests } from "./requests.ts";
import { sandboxFaultEndpoints } from "./sandbox/sandbox-faults.ts";
import { getAllUsage, getWorkspaceUsage } from "./usage.ts";
import { getAllDeliveries, getWorkspaceDeliveries } from "./deliveries.ts";
import { listAllJobs, listWorkspaceJobs } from "./jobs.ts";
import { getProviderDeletions, getWorkspaceDeletions } from "./provider-deletions.ts";
import { listAllRetirements, listWorkspaceRetirements } from "./retirements.ts";
import { budgetEndpoints } from "./budgets.ts";
import { keyEndpoints } from "./keys.ts";
import { getWorkspaceCredits, planEndpoints } from "./plans.ts";
import { workspaceEndpoints } from "./workspaces.ts";

export function operatorEndpoints(edge: AdminEdge): readonly Endpoint<Principal>[] {
  return [
    ...workspaceEndpoints(edge),
    ...planEndpoints(edge),
    getAudit(edge),
    listRequests(edge),
    getAnyRequest(edge),
    getAllUsage(edge),
    getProviderDeletions(edge),
    listAllRetirements(edge),
    listAllJobs(edge),
    getAllDeliveries(edge),
    getAuditVerification(edge),
    getProviderHealth(edge),
    postApply(edge),
    ...sandboxFaultEndpoints(edge),
    ...localModelEndpoints(edge),
    ...everywhereEndpoints(edge).map(({ platform }) => platform),
    ...mirroredEndpoints(edge).map(({ operator }) => operator),
  ];
}

export function workspaceAdminEndpoints(edge: AdminEdge): readonly Endpoint<Principal>[] {
  return mirroredEndpoints(edge).map(({ workspace }) => workspace);
}

function everywhereEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  return [
    ...connectionEndpoints(edge),
    ...pauseEndpoints(edge),
    ...routeEndpoints(edge),
    modelsEndpoint(edge),
    explainEndpoint(edge),
  ];
}

function mirroredEndpoints(edge: AdminEdge): readonly MirroredEndpoint[] {
  return [
    ...everywhereEndpoints(edge),
    ...appEndpoints(edge),
    ...keyEndpoints(edge),
    ...budgetEndpoints(edge),
    getWorkspaceCredits(edge),
    getWorkspaceAudit(edge),
    listWorkspaceRequests(edge),
    getWorkspaceRequest(edge),
    getWorkspaceUsage(edge),
    getWorkspaceDeletions(edge),
    listWorkspaceRetirements(edge),
    listWorkspaceJobs(edge),
    getWorkspaceDeliveries(edge),
    postAudioUrlCheck(edge),
  ];
}
