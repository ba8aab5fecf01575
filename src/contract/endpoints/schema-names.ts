// The names of schemas in the OpenAPI documents [api.openapi-components]: of every body, and of parts that several bodies contain or that readers look for.
import type { z } from "zod";
import {
  keyDescription,
  limitsReport,
  namedTarget,
  publishedPurpose,
  purposeEntry,
  quotaView,
  routingEntry,
} from "../account.ts";
import { managedBy } from "../admin/admin.ts";
import { applyRequest, applyResult } from "../admin/apply.ts";
import { appChange, appList, appRequest, appView, boundPurpose } from "../admin/apps.ts";
import { audioUrlCheck, audioUrlCheckRequest } from "../admin/audio-url-check.ts";
import { audioUrlDomains, audioUrlDomainsRequest } from "../admin/audio-url-domains.ts";
import { auditEntryList, auditEntryView, auditVerification } from "../admin/audit.ts";
import { forecast } from "../admin/budget-forecast.ts";
import { budgetChange, budgetList, budgetView } from "../admin/budgets.ts";
import { connectionTest } from "../admin/connection-test.ts";
import { connectionList, connectionView, credentialRequest } from "../admin/connections.ts";
import { listedDelivery, listedDeliveryList } from "../admin/delivery-list.ts";
import { keyChange, keyList, keyRequest, keyRotation, keyView } from "../admin/keys.ts";
import { localModelList, localModelPullRequest, localModelView } from "../admin/local-models.ts";
import { pauseList, pauseRequest, pauseView, resumeRequest, resumption } from "../admin/pauses.ts";
import { creditsView, grantRequest, planChange, planList, planRequest, planView } from "../admin/plans.ts";
import { providerDeletionList, providerDeletionView } from "../admin/provider-deletions.ts";
import { providerHealth } from "../admin/provider-health.ts";
import { listedRequest, listedRequestList } from "../admin/request-list.ts";
import { retirementList, retirementView } from "../admin/retirements.ts";
import { explanationRequest, judgedRequest, routeExplanation, routeTrace } from "../admin/route-explanation.ts";
import {
  purposeList,
  routeList,
  routeVersionList,
  routeVersionView,
  routeView,
  versionChoice,
} from "../admin/routes.ts";
import { sandboxFault, sandboxFaults, sandboxFaultsRequest } from "../admin/sandbox-faults.ts";
import { assignableModel, assignableModels } from "../admin/workspace-models.ts";
import { deletedView, workspaceChange, workspaceList, workspaceRequest, workspaceView } from "../admin/workspaces.ts";
import {
  audioPart,
  chatMessage,
  chatResponseFormat,
  chatTool,
  chatToolChoice,
  imagePart,
  openAiToolCall,
  ownToolCall,
  textPart,
  toolCall,
} from "../chat/chat-parts.ts";
import { chatAnswer, chatUsage } from "../chat/chat-answer.ts";
import { chatFields } from "../chat/checked-chat-fields.ts";
import { completionMessage } from "../chat/completion-message.ts";
import { chatCompletion, chatCompletionFields, listedModel, modelList } from "../chat/openai-compatible.ts";
import { errorBody, problemBody } from "../error-body.ts";
import { modelNotOffered } from "../model-life.ts";
import { listedJob, listedJobList } from "../admin/job-list.ts";
import { job, jobError, jobList, jobProgress, jobRequest, jobStatus, providerDeletion, submittedJob } from "../jobs.ts";
import { modelLife } from "../model-life.ts";
import { mcpAnswer, mcpError, mcpMessage } from "../mcp.ts";
import { realtimeToken } from "../transcription/realtime.ts";
import { recordedAttempt, recordedCandidate, recordedOptions, recordedPurpose, requestRecord } from "../requests.ts";
import { quotaSection } from "../settings/app.ts";
import { connectionSection, modelDeclaration, providerKind } from "../settings/connection.ts";
import { dataPolicyRequirement, dataPolicyStatement } from "../settings/data-policy.ts";
import { purposeSection, routeRequest, targetSection } from "../settings/route.ts";
import {
  audioMember,
  KEYTERMS,
  LANGUAGE_TAG,
  PURPOSE_POLICY,
  REDACTION,
  transcriptionRequest,
  translationRequest,
} from "../transcription/transcription-fields.ts";
import {
  localModelFile,
  retirement,
  routingDecision,
  segment,
  transcriptionEnvelope,
  warning,
  word,
} from "../transcription/transcription-envelope.ts";
import { spentBudget, unresolvedChat, usageReport, usageTable, workspaceUsage } from "../usage.ts";
import {
  attemptView,
  deliveryList,
  deliveryView,
  listenDelivery,
  listenReady,
  webhookDeleted,
  webhookEvent,
  webhookRequest,
  webhookView,
} from "../webhook.ts";
import { chatOrDecision } from "./endpoint-chat.ts";
import { audioText, audioTranscriptionForm, audioTranslationForm } from "./endpoint-compatible.ts";
import { jobForm, jobOrResult } from "./endpoint-jobs.ts";
import { transcriptionForm, transcriptionOrDecision, translationForm } from "./endpoint-transcription.ts";
import { streamedEvent } from "./endpoint-webhook.ts";
import {
  documentationSection,
  documentationSections,
  health,
  homeState,
  openapiDocument,
  readiness,
} from "./operations.ts";

export type SchemaNames = Readonly<Record<string, z.ZodType>>;

/**
 * A table, and not zod's own `.meta({ id })`: that would move a part to `$defs` in every other JSON Schema as well, such as those of MCP tools and of the
 * configuration file.
 */
export const SCHEMA_NAMES: SchemaNames = {
  // Errors and documentation
  Error: errorBody,
  ErrorCode: problemBody.shape.code,
  ErrorType: problemBody.shape.error_type,
  DocumentationSection: documentationSection,
  DocumentationSectionList: documentationSections,
  Health: health,
  Home: homeState,
  OpenapiDocument: openapiDocument,
  Problem: problemBody,
  Readiness: readiness,

  // Transcription
  AudioSource: audioMember,
  DataPolicyRequirement: dataPolicyRequirement,
  Keyterms: KEYTERMS,
  LanguageTag: LANGUAGE_TAG,
  LocalModelFile: localModelFile,
  ModelNotOffered: modelNotOffered,
  ModelRetirement: retirement,
  PurposePolicy: PURPOSE_POLICY,
  RealtimeToken: realtimeToken,
  Redaction: REDACTION,
  RoutingDecision: routingDecision,
  Segment: segment,
  Transcription: transcriptionEnvelope,
  TranscriptionForm: transcriptionForm,
  TranscriptionOrDecision: transcriptionOrDecision,
  TranscriptionRequest: transcriptionRequest,
  TranscriptionUsage: transcriptionEnvelope.shape.usage,
  TranslationForm: translationForm,
  TranslationRequest: translationRequest,
  Warning: warning,
  Word: word,

  // Jobs and webhooks
  DeletedWebhook: webhookDeleted,
  JobError: jobError,
  JobProgress: jobProgress,
  JobStatus: jobStatus,
  JobSummary: listedJob,
  JobSummaryList: listedJobList,
  LocalModel: localModelView,
  LocalModelList: localModelList,
  LocalModelPullRequest: localModelPullRequest,
  RecordingDeletion: providerDeletion,
  SubmittedJob: submittedJob,
  TranscriptionJob: job,
  TranscriptionJobForm: jobForm,
  TranscriptionJobList: jobList,
  TranscriptionJobOrResult: jobOrResult,
  TranscriptionJobRequest: jobRequest,
  Webhook: webhookView,
  WebhookAttempt: attemptView,
  WebhookDelivery: deliveryView,
  WebhookDeliveryList: deliveryList,
  WebhookDeliverySummary: listedDelivery,
  WebhookDeliverySummaryList: listedDeliveryList,
  WebhookEvent: webhookEvent,
  WebhookRequest: webhookRequest,
  WebhookStreamDelivery: listenDelivery,
  WebhookStreamEvent: streamedEvent,
  WebhookStreamReady: listenReady,

  // Chat, OpenAI-compatible endpoints and MCP
  AudioPart: audioPart,
  Chat: chatAnswer,
  ChatCompletion: chatCompletion,
  ChatCompletionMessage: completionMessage,
  ChatCompletionRequest: chatCompletionFields,
  ChatMessage: chatMessage,
  ChatOrDecision: chatOrDecision,
  ChatRequest: chatFields,
  ChatResponseFormat: chatResponseFormat,
  ChatUsage: chatUsage,
  CompatibleTranscript: audioText,
  CompatibleTranscriptionForm: audioTranscriptionForm,
  CompatibleTranslationForm: audioTranslationForm,
  ImagePart: imagePart,
  McpAnswer: mcpAnswer,
  McpError: mcpError,
  McpMessage: mcpMessage,
  Model: listedModel,
  ModelList: modelList,
  OpenaiToolCall: openAiToolCall,
  SentToolCall: ownToolCall,
  TextPart: textPart,
  Tool: chatTool,
  ToolCall: toolCall,
  ToolChoice: chatToolChoice,

  // What a key can read
  BudgetForecast: forecast,
  KeyDescription: keyDescription,
  Limits: limitsReport,
  NamedTarget: namedTarget,
  PublishedPurpose: publishedPurpose,
  PurposeSummary: purposeEntry,
  Quota: quotaView,
  RemainingBudget: limitsReport.shape.budgets.element,
  RequestAttempt: recordedAttempt,
  RequestCandidate: recordedCandidate,
  RequestOptions: recordedOptions,
  RequestPurpose: recordedPurpose,
  RequestRecord: requestRecord,
  RoutingContext: routingEntry,
  SpentBudget: spentBudget,
  UnresolvedChat: unresolvedChat,
  UsageReport: usageReport,
  UsageRow: usageTable.shape.data.element,
  UsageTotal: usageTable.shape.totals.element,
  WorkspaceUsage: workspaceUsage,

  // Administration: workspaces, apps and keys
  App: appView,
  AppChange: appChange,
  AppList: appList,
  AppRequest: appRequest,
  AuditEntry: auditEntryView,
  AuditEntryList: auditEntryList,
  AuditVerification: auditVerification,
  AudioUrlCheck: audioUrlCheck,
  AudioUrlCheckRequest: audioUrlCheckRequest,
  AudioUrlDomains: audioUrlDomains,
  AudioUrlDomainsRequest: audioUrlDomainsRequest,
  BoundPurpose: boundPurpose,
  Budget: budgetView,
  BudgetChange: budgetChange,
  BudgetList: budgetList,
  CreditGrantRequest: grantRequest,
  Credits: creditsView,
  DeletedObject: deletedView,
  Key: keyView,
  KeyChange: keyChange,
  KeyList: keyList,
  KeyRequest: keyRequest,
  KeyRotation: keyRotation,
  ManagedBy: managedBy,
  Plan: planView,
  PlanChange: planChange,
  PlanList: planList,
  PlanRequest: planRequest,
  ProviderDeletion: providerDeletionView,
  ProviderDeletionList: providerDeletionList,
  QuotaSettings: quotaSection,
  RequestSummary: listedRequest,
  RequestSummaryList: listedRequestList,
  Workspace: workspaceView,
  WorkspaceChange: workspaceChange,
  WorkspaceList: workspaceList,
  WorkspaceRequest: workspaceRequest,

  // Administration: connections and routes
  ApplyRequest: applyRequest,
  ApplyResult: applyResult,
  AssignableModel: assignableModel,
  AssignableModelList: assignableModels,
  Connection: connectionView,
  ConnectionList: connectionList,
  ConnectionPause: pauseView,
  ConnectionPauseList: pauseList,
  ConnectionRequest: connectionSection,
  ConnectionResumption: resumption,
  ConnectionTest: connectionTest,
  CredentialRequest: credentialRequest,
  DataPolicyStatement: dataPolicyStatement,
  ExplainedRequest: judgedRequest,
  ExplanationRequest: explanationRequest,
  ModelDeclaration: modelDeclaration,
  ModelLife: modelLife,
  PauseRequest: pauseRequest,
  ProviderHealth: providerHealth,
  ProviderKind: providerKind,
  Purpose: purposeList.shape.data.element,
  PurposeList: purposeList,
  PurposeSettings: purposeSection,
  ResumeRequest: resumeRequest,
  Route: routeView,
  RouteExplanation: routeExplanation,
  RouteList: routeList,
  RouteRequest: routeRequest,
  RouteRetirement: retirementView,
  RouteRetirementList: retirementList,
  RouteTarget: targetSection,
  RouteTrace: routeTrace,
  RouteVersion: routeVersionView,
  RouteVersionChoice: versionChoice,
  RouteVersionList: routeVersionList,
  SandboxFault: sandboxFault,
  SandboxFaults: sandboxFaults,
  SandboxFaultsRequest: sandboxFaultsRequest,
};
