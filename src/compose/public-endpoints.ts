// Composes the endpoints of the public listener: each is a contract and its handler, with the services that it needs.
import type { Server } from "node:http";
import { join } from "node:path";
import { createRealtimeTokens } from "../auth/realtime-tokens.ts";
import type { Principal } from "../auth/principal.ts";
import { packageRoot, packageVersion, pageModules, samplePath, webModules } from "../cli/package-root.ts";
import { ENDPOINTS } from "../contract/endpoints/endpoints.ts";
import type { HomeState } from "../contract/endpoints/operations.ts";
import type { KeyVerifier } from "../auth/verify-key.ts";
import { type Directory, PLATFORM } from "../directory/snapshot.ts";
import { findKeys } from "../directory/find-key.ts";
import { createAdmission } from "../gateway/admission.ts";
import { limitFigures } from "../gateway/account/describe-limits.ts";
import { workspaceAdminEndpoints } from "../http/admin/endpoints.ts";
import type { ChatEdge } from "../http/endpoints/chat-edge.ts";
import type { Endpoint, EndpointWithToken } from "../http/server/endpoint.ts";
import { deleteJob } from "../http/endpoints/jobs/delete-job.ts";
import { getAudioUrlDomains } from "../http/endpoints/get-audio-url-domains.ts";
import { getDocs } from "../http/endpoints/pages/get-docs.ts";
import { getLlms } from "../http/endpoints/pages/get-llms.ts";
import { getConsole } from "../http/endpoints/pages/get-console.ts";
import { createDocumentation } from "../http/pages/docs/documentation.ts";
import { getHealth } from "../http/endpoints/get-health.ts";
import { getJob } from "../http/endpoints/jobs/get-job.ts";
import { getJobResult } from "../http/endpoints/jobs/get-job-result.ts";
import { getLimits } from "../http/endpoints/get-limits.ts";
import { getMe } from "../http/endpoints/get-me.ts";
import { getModel, getModels, getPurposeModel } from "../http/endpoints/get-models.ts";
import { getHome } from "../http/endpoints/pages/get-home.ts";
import { getWebFile } from "../http/endpoints/pages/get-web-file.ts";
import { getPlayground } from "../http/endpoints/pages/get-playground.ts";
import { getRealtime, type RealtimeEdge } from "../http/endpoints/get-realtime.ts";
import { getOpenapi } from "../http/endpoints/pages/get-openapi.ts";
import { getRequest } from "../http/endpoints/get-request.ts";
import { getUsage } from "../http/endpoints/get-usage.ts";
import { listJobs } from "../http/endpoints/jobs/list-jobs.ts";
import { postJob } from "../http/endpoints/jobs/post-job.ts";
import { postAudioTranscriptions, postAudioTranslations } from "../http/endpoints/post-audio-transcriptions.ts";
import { postChatCompletions } from "../http/endpoints/post-chat-completions.ts";
import { postChat } from "../http/endpoints/post-chat.ts";
import { postMcp } from "../http/endpoints/post-mcp.ts";
import { postRealtimeToken } from "../http/endpoints/post-realtime-token.ts";
import { postTranscription, type TranscriptionEdge } from "../http/endpoints/post-transcription.ts";
import { postTranslation } from "../http/endpoints/post-translation.ts";
import { type DomainsEdge, putAudioUrlDomains } from "../http/endpoints/put-audio-url-domains.ts";
import { webhookEndpoints } from "../http/endpoints/webhooks/webhook-endpoints.ts";
import { submitJob } from "../jobs/submit.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Database } from "../storage/database.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { OpenedJobs } from "./jobs.ts";
import type { Spool } from "../audio/spool.ts";
import type { AdminEdge } from "../http/admin/frame.ts";
import type { JsonParser } from "../lib/json/json-parser.ts";

export interface PublicParts {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly keys: KeyVerifier;
  readonly pepper: Buffer;
  readonly gateway: GatewayServices;
  readonly durable: OpenedJobs;
  readonly spool: Spool;
  readonly parser: JsonParser;
  /** Whether the listener is closed to new connections: a request that still arrives uses one that should be closed. */
  readonly isClosing: () => boolean;
  readonly edge: AdminEdge;
  readonly readiness: Endpoint;
  readonly publicUrl: () => string;
  /** The server of these endpoints, available once requests arrive. */
  readonly server: () => Server;
}

function recognitionOf(directory: Directory): HomeState["recognition"] {
  const isReal = directory.accountsOf(PLATFORM).some(({ account }) => account.kind !== "sandbox");
  return isReal ? "provider" : "simulated";
}

export function publicEndpoints(parts: PublicParts): readonly (Endpoint<Principal> | EndpointWithToken<Principal>)[] {
  const { configuration, gateway, spool, isClosing, database, edge, readiness, publicUrl, keys, pepper } = parts;
  const { requireAdmin } = edge;
  const { jobs, webhooks, draining } = parts.durable;
  const { limits } = configuration;
  const admission = createAdmission(isClosing);
  const speech: TranscriptionEdge = {
    gateway,
    admission,
    spool,
    maxAudioBytes: limits.maxAudioBytes,
    submitJob: (call) => submitJob(jobs, call),
    publicUrl,
  };
  const realtime: RealtimeEdge = {
    gateway,
    admission,
    tokens: createRealtimeTokens({ database, pepper, keys, findKeys: (hashes) => findKeys(database, hashes) }),
    publicUrl,
  };
  const chat: ChatEdge = {
    gateway,
    admission,
    maxBodyBytes: limits.maxChatBodyBytes,
    publicUrl,
  };
  const allowlist: DomainsEdge = { requireAdmin, domains: { database, maxDomains: limits.maxAudioUrlDomains } };
  return [
    getHealth,
    readiness,
    getOpenapi(join(packageRoot(), "openapi.json")),
    getHome({ places: webModules(), version: packageVersion(), recognition: () => recognitionOf(gateway.directory()) }),
    ...getDocs(createDocumentation(packageRoot()), webModules()),
    getWebFile(webModules()),
    getLlms(ENDPOINTS),
    ...getPlayground({ ...pageModules(), sample: samplePath() }),
    ...getConsole(pageModules(), "public", publicUrl),
    getMe(gateway),
    ...getLimits({ figures: limitFigures(limits), ledger: gateway.ledger }),
    getRequest(edge.records),
    getUsage({ database, ledger: gateway.ledger }),
    postTranscription(speech),
    postTranslation(speech),
    getRealtime(realtime),
    postRealtimeToken(realtime),
    postChat(chat),
    postChatCompletions(chat),
    postAudioTranscriptions(speech),
    postAudioTranslations(speech),
    getModels(gateway),
    getModel(gateway),
    getPurposeModel(gateway),
    postMcp({
      server: parts.server,
      version: packageVersion(),
      logger: gateway.logger,
      parser: parts.parser,
      admission,
      publicUrl,
    }),
    postJob({ jobs, admission, spool, maxAudioBytes: limits.maxJobAudioBytes }),
    listJobs(jobs),
    getJob(jobs, draining),
    deleteJob(jobs),
    getJobResult(jobs),
    ...webhookEndpoints({
      webhooks,
      draining,
      requireAdmin,
    }),
    getAudioUrlDomains(allowlist),
    putAudioUrlDomains(allowlist),
    ...workspaceAdminEndpoints(edge),
  ];
}
