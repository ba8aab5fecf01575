// Lists all endpoints of the public listener; its OpenAPI document is generated from this list. The path of each endpoint is in its
// contract; those that pick a model start with `/v1`.
import { APP_CONTRACTS } from "../admin/apps.ts";
import { workspaceAuditContracts } from "../admin/audit.ts";
import { audioUrlCheckContracts } from "../admin/audio-url-check.ts";
import { getAudioUrlDomainsContract, putAudioUrlDomainsContract } from "../admin/audio-url-domains.ts";
import { getLimitsContract, getMeContract, getMyLimitsContract } from "./endpoint-account.ts";
import { postChatContract } from "./endpoint-chat.ts";
import {
  getModelContract,
  getModelsContract,
  getPurposeModelContract,
  postAudioTranscriptionsContract,
  postAudioTranslationsContract,
  postChatCompletionsContract,
} from "./endpoint-compatible.ts";
import type { EndpointContract } from "./endpoint.ts";
import { BUDGET_CONTRACTS } from "../admin/budgets.ts";
import { creditsContracts } from "../admin/plans.ts";
import { KEY_CONTRACTS } from "../admin/keys.ts";
import { JOB_ENDPOINTS } from "./endpoint-jobs.ts";
import { workspaceJobsContracts } from "../admin/job-list.ts";
import { postMcpContract } from "../mcp.ts";
import { postTranscriptionContract, postTranslationContract } from "./endpoint-transcription.ts";
import { WEBHOOK_ENDPOINTS } from "./endpoint-webhook.ts";
import { workspaceDeletionsContracts } from "../admin/provider-deletions.ts";
import { workspaceRetirementsContracts } from "../admin/retirements.ts";
import { getRealtimeContract, postRealtimeTokenContract } from "../transcription/realtime.ts";
import { getRequestContract } from "../requests.ts";
import { workspaceRequestContracts, workspaceRequestsContracts } from "../admin/request-list.ts";
import { getUsageContract, workspaceUsageContracts } from "../usage.ts";
import { CONNECTION_ENDPOINTS } from "../admin/connections.ts";
import { PAUSE_ENDPOINTS } from "../admin/pauses.ts";
import { explainContracts } from "../admin/route-explanation.ts";
import { ROUTE_ENDPOINTS } from "../admin/routes.ts";
import { getModelsContracts } from "../admin/workspace-models.ts";
import {
  getDocsContract,
  getDocsPageContract,
  getDocsSearchContract,
  getDocsSectionPageContract,
  getDocsSlashContract,
  getErrorDocsContract,
  getHealthContract,
  getHomeContract,
  getLlmsContract,
  getOpenapiContract,
  getConsoleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
  getPlaygroundContract,
  getPlaygroundFileContract,
  getPlaygroundModuleContract,
  getReadinessContract,
  getWebFileContract,
} from "./operations.ts";

export const ENDPOINTS: readonly EndpointContract[] = [
  postTranscriptionContract,
  postTranslationContract,
  postChatContract,
  postChatCompletionsContract,
  postAudioTranscriptionsContract,
  postAudioTranslationsContract,
  getModelsContract,
  getModelContract,
  getPurposeModelContract,
  postMcpContract,
  getRealtimeContract,
  postRealtimeTokenContract,
  ...JOB_ENDPOINTS,
  getMeContract,
  getLimitsContract,
  getMyLimitsContract,
  getRequestContract,
  getUsageContract,
  ...WEBHOOK_ENDPOINTS,
  getAudioUrlDomainsContract,
  putAudioUrlDomainsContract,
  audioUrlCheckContracts.workspace,
  ...Object.values(APP_CONTRACTS).map(({ workspace }) => workspace),
  ...Object.values(KEY_CONTRACTS).map(({ workspace }) => workspace),
  ...Object.values(BUDGET_CONTRACTS).map(({ workspace }) => workspace),
  creditsContracts.workspace,
  workspaceAuditContracts.workspace,
  workspaceRequestsContracts.workspace,
  workspaceRequestContracts.workspace,
  workspaceUsageContracts.workspace,
  workspaceDeletionsContracts.workspace,
  workspaceRetirementsContracts.workspace,
  workspaceJobsContracts.workspace,
  getModelsContracts.workspace,
  explainContracts.workspace,
  ...[...CONNECTION_ENDPOINTS, ...PAUSE_ENDPOINTS, ...ROUTE_ENDPOINTS].map(({ workspace }) => workspace),
  getHealthContract,
  getReadinessContract,
  getOpenapiContract,
  getHomeContract,
  getDocsContract,
  getDocsPageContract,
  getDocsSearchContract,
  getDocsSectionPageContract,
  getDocsSlashContract,
  getErrorDocsContract,
  getLlmsContract,
  getConsoleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
  getPlaygroundContract,
  getPlaygroundFileContract,
  getPlaygroundModuleContract,
  getWebFileContract,
];
