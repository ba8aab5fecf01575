// All endpoints of the admin listener [admin.openapi]; its OpenAPI document is generated from this list.
import { APP_CONTRACTS } from "./apps.ts";
import { audioUrlCheckContracts } from "./audio-url-check.ts";
import { listAuditContract, verifyAuditContract, workspaceAuditContracts } from "./audit.ts";
import type { EndpointContract } from "./endpoint.ts";
import { listAllDeliveriesContract, workspaceDeliveriesContracts } from "./delivery-list.ts";
import { listAllJobsContract, workspaceJobsContracts } from "./job-list.ts";
import {
  getConsoleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
  getErrorDocsContract,
  getHealthContract,
  getMetricsContract,
  getOpenapiContract,
  getReadinessContract,
} from "./operations.ts";
import {
  getAnyRequestContract,
  listRequestsContract,
  workspaceRequestContracts,
  workspaceRequestsContracts,
} from "./request-list.ts";
import { getAllUsageContract, workspaceUsageContracts } from "./usage.ts";
import { listDeletionsContract, workspaceDeletionsContracts } from "./provider-deletions.ts";
import { postApplyContract } from "./apply.ts";
import { CONNECTION_ENDPOINTS } from "./connections.ts";
import { getProviderHealthContract } from "./provider-health.ts";
import { PAUSE_ENDPOINTS } from "./pauses.ts";
import { explainContracts } from "./route-explanation.ts";
import { ROUTE_ENDPOINTS } from "./routes.ts";
import { BUDGET_CONTRACTS } from "./budgets.ts";
import { PLAN_ENDPOINTS } from "./plans.ts";
import { KEY_CONTRACTS } from "./keys.ts";
import { getSandboxFaultsContract, putSandboxFaultsContract } from "./sandbox-faults.ts";
import { getModelsContracts } from "./workspace-models.ts";
import { WORKSPACE_ENDPOINTS } from "./workspaces.ts";

export const ADMIN_ENDPOINTS: readonly EndpointContract[] = [
  ...WORKSPACE_ENDPOINTS,
  ...Object.values(APP_CONTRACTS).map(({ operator }) => operator),
  ...Object.values(KEY_CONTRACTS).map(({ operator }) => operator),
  ...Object.values(BUDGET_CONTRACTS).map(({ operator }) => operator),
  ...PLAN_ENDPOINTS,
  listAuditContract,
  verifyAuditContract,
  workspaceAuditContracts.operator,
  listRequestsContract,
  getAnyRequestContract,
  workspaceRequestsContracts.operator,
  workspaceRequestContracts.operator,
  getAllUsageContract,
  workspaceUsageContracts.operator,
  listDeletionsContract,
  workspaceDeletionsContracts.operator,
  listAllJobsContract,
  workspaceJobsContracts.operator,
  listAllDeliveriesContract,
  workspaceDeliveriesContracts.operator,
  audioUrlCheckContracts.operator,
  getProviderHealthContract,
  postApplyContract,
  getSandboxFaultsContract,
  putSandboxFaultsContract,
  ...[...CONNECTION_ENDPOINTS, ...PAUSE_ENDPOINTS, ...ROUTE_ENDPOINTS].flatMap(({ platform, operator }) => [
    platform,
    operator,
  ]),
  getModelsContracts.platform,
  getModelsContracts.operator,
  explainContracts.platform,
  explainContracts.operator,
  getHealthContract,
  getReadinessContract,
  getMetricsContract,
  getOpenapiContract,
  getErrorDocsContract,
  getConsoleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
];
