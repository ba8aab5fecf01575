// Lists all endpoints of the admin listener [admin.openapi]; its OpenAPI document is generated from this list.
import { APP_CONTRACTS } from "../admin/apps.ts";
import { audioUrlCheckContracts } from "../admin/audio-url-check.ts";
import { listAuditContract, verifyAuditContract, workspaceAuditContracts } from "../admin/audit.ts";
import type { EndpointContract } from "./endpoint.ts";
import { listAllDeliveriesContract, workspaceDeliveriesContracts } from "../admin/delivery-list.ts";
import { listAllJobsContract, workspaceJobsContracts } from "../admin/job-list.ts";
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
} from "../admin/request-list.ts";
import { getAllUsageContract, workspaceUsageContracts } from "../usage.ts";
import { listDeletionsContract, workspaceDeletionsContracts } from "../admin/provider-deletions.ts";
import { postApplyContract } from "../admin/apply.ts";
import { CONNECTION_ENDPOINTS } from "../admin/connections.ts";
import { getProviderHealthContract } from "../admin/provider-health.ts";
import { LOCAL_MODEL_ENDPOINTS } from "../admin/local-models.ts";
import { PAUSE_ENDPOINTS } from "../admin/pauses.ts";
import { explainContracts } from "../admin/route-explanation.ts";
import { ROUTE_ENDPOINTS } from "../admin/routes.ts";
import { BUDGET_CONTRACTS } from "../admin/budgets.ts";
import { PLAN_ENDPOINTS } from "../admin/plans.ts";
import { KEY_CONTRACTS } from "../admin/keys.ts";
import { getSandboxFaultsContract, putSandboxFaultsContract } from "../admin/sandbox-faults.ts";
import { getModelsContracts } from "../admin/workspace-models.ts";
import { WORKSPACE_ENDPOINTS } from "../admin/workspaces.ts";

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
  ...LOCAL_MODEL_ENDPOINTS,
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
