// Examples of the administration: of a workspace's administrators and of the operator, for workspaces and for shared objects.
import { deliveryList } from "../../src/contract/webhook.ts";
import { until } from "../harness/until.ts";
import type { Asking, Answered, Listener, Recorder } from "./recorder.ts";

type Fields = Readonly<Record<string, string>>;
/** Asks an operation of one listener and one owner. */
type Ask = (operationId: string, asking?: Asking) => Promise<Answered>;

const PROVIDER_KEY = "the-key-of-your-provider-account";
const TARGETS = [{ connection: "deepgram", model: "nova-3" }];

export async function adminScenario(recorder: Recorder, requestId: string): Promise<void> {
  for (const listener of ["public", "admin"] as const) {
    const ask = asker(recorder, listener, { tenant_id: "acme" });
    await appScenario(ask);
    await keyScenario(ask);
    await connectionScenario(ask);
    await routeScenario(ask);
    await logScenario(ask, requestId);
  }
  const shared: Ask = (operationId, asking) =>
    recorder.ask(
      "admin",
      operationId.replace(/^[a-z]+/u, (verb) => `${verb}Platform`),
      asking,
    );
  await connectionScenario(shared);
  await routeScenario(shared);
  await shared("getModels");
  await shared("explainRequest", { json: { app: "acme/notes", ...ASKED } });
  await webhookScenario(asker(recorder, "public", { tenant_id: "acme" }));
  await operatorScenario(asker(recorder, "admin", {}), requestId);
}

const ASKED = { fields: { diarization: true }, recording: { duration_seconds: 90 } };
const EXPLANATION = { json: { app: "notes", ...ASKED } };

function asker(recorder: Recorder, listener: Listener, owner: Fields): Ask {
  return (operationId, asking = {}) =>
    recorder.ask(listener, operationId, { ...asking, path: { ...owner, ...asking.path } });
}

const matching = (etag: string): Fields => ({ "If-Match": etag });
const idOf = ({ json }: Answered): string => String(json?.["id"]);

async function appScenario(ask: Ask): Promise<void> {
  const path = { app_id: "support" };
  await ask("createApp", { json: { slug: "support", name: "Support calls", route: "speech" } });
  await ask("listApps");
  const { etag } = await ask("getApp", { path });
  const json = { name: "Support calls", route: "speech", quota: { requests_per_minute: 120, concurrent: 10 } };
  await ask("replaceApp", { path, json, headers: matching(etag) });
  const month = { ...path, period: "month" };
  await ask("putBudget", { path: month, json: { limit_usd: "25.00", soft_limit: 0.8 } });
  await ask("listBudgets", { path });
  const budget = await ask("getBudget", { path: month });
  await ask("putBudget", { path: month, json: { limit_usd: "50.00" }, headers: matching(budget.etag) });
  await ask("deleteBudget", { path: month });
  await ask("getCredits");
  await ask("deleteApp", { path });
}

async function keyScenario(ask: Ask): Promise<void> {
  const created = await ask("createKey", { json: { app: "notes", name: "Phone system", scopes: ["transcribe"] } });
  const path = { key_id: idOf(created) };
  await ask("listKeys", { query: { app: "notes" } });
  const { etag } = await ask("getKey", { path });
  const json = { name: "Phone system", scopes: ["transcribe", "jobs"] };
  await ask("replaceKey", { path, json, headers: matching(etag) });
  const rotated = await ask("rotateKey", { path, json: { overlap_seconds: 3_600 } });
  await ask("revokeKey", { path });
  await ask("revokeKey", { path: { key_id: idOf(rotated) } });
}

async function connectionScenario(ask: Ask): Promise<void> {
  const path = { connection_id: "practice" };
  await ask("createConnection", { json: { id: "practice", kind: "sandbox", api_key: PROVIDER_KEY } });
  await ask("listConnections");
  const { etag } = await ask("getConnection", { path });
  const json = { id: "practice", kind: "sandbox", timeout_seconds: 120 };
  await ask("replaceConnection", { path, json, headers: matching(etag) });
  await ask("rotateConnectionCredential", { path, json: { api_key: `${PROVIDER_KEY}-2` } });
  await ask("testConnection", { path });
  await ask("pauseConnection", { path, json: { duration_seconds: 900, reason: "The provider reports an incident." } });
  await ask("listPauses");
  await ask("resumeConnection", { path, json: {} });
  await ask("deleteConnection", { path });
}

async function routeScenario(ask: Ask): Promise<void> {
  const path = { route_id: "calls" };
  await ask("createRoute", { json: { id: "calls", targets: TARGETS } });
  await ask("publishRoute", { path, json: {} });
  await ask("listRoutes");
  const { etag } = await ask("getRoute", { path });
  const targets = [...TARGETS, { connection: "openai", model: "whisper-1" }];
  await ask("reviseRoute", { path, json: { id: "calls", targets, confirm_ending: true }, headers: matching(etag) });
  await ask("publishRoute", { path, json: {} });
  await ask("rollBackRoute", { path, json: {} });
  await ask("listRouteVersions", { path });
  await ask("getRouteVersion", { path: { ...path, version: "1" } });
  const purpose = { ...path, label: "voicemail" };
  const json = {
    purpose: "voicemail",
    description: "Messages of callers",
    route: "calls",
    defaults: { diarization: false },
  };
  await ask("putPurpose", { path: purpose, json });
  await ask("listPurposes", { path });
  await ask("deletePurpose", { path: purpose });
  await ask("deleteRoute", { path });
}

async function logScenario(ask: Ask, requestId: string): Promise<void> {
  await ask("listWorkspaceAudit", { query: { limit: "2" } });
  await ask("listWorkspaceRequests", { query: { limit: "2" } });
  await ask("getWorkspaceRequest", { path: { request_id: requestId } });
  await ask("getWorkspaceUsage", { query: { group_by: "app" } });
  await ask("getWorkspaceUsage", { accept: "text/csv" });
  await ask("listWorkspaceProviderDeletions");
  await ask("listWorkspaceRetirements");
  await ask("listWorkspaceJobs", { query: { limit: "2" } });
  await ask("getWorkspaceModels");
  await ask("explainRequest", EXPLANATION);
  await ask("checkAudioUrl", { json: { url: "https://media.example.com/call.mp3" } });
}

async function webhookScenario(ask: Ask): Promise<void> {
  await ask("getAudioUrlDomains");
  await ask("putAudioUrlDomains", { json: { domains: ["media.example.com", "*.cdn.example.com"] } });
  await ask("putSttWebhook", { json: { url: "https://hooks.acme.example/patchbay" } });
  await ask("getSttWebhook");
  const delivery_id = idOf(await ask("testSttWebhook"));
  await ask("listSttWebhookDeliveries");
  await ask("redeliverSttWebhook", { path: { delivery_id } });
  await ask("streamSttWebhook", { isEndless: true });
  await until(async () => {
    const { data } = deliveryList.parse((await ask("listSttWebhookDeliveries")).json);
    return data.every(({ status }) => status === "delivered");
  });
  await ask("deleteSttWebhook");
}

async function operatorScenario(ask: Ask, requestId: string): Promise<void> {
  const workspace = { tenant_id: "research" };
  await ask("createPlan", { json: { id: "team", monthly_chat_tokens: 5_000_000, credits_usd: "100" } });
  await ask("listPlans");
  const plan = await ask("getPlan", { path: { plan_id: "team" } });
  const changed = { monthly_chat_tokens: 10_000_000, credits_usd: "200" };
  await ask("replacePlan", { path: { plan_id: "team" }, json: changed, headers: matching(plan.etag) });
  await ask("createWorkspace", { json: { slug: "research", plan: "free" } });
  await ask("listWorkspaces");
  const { etag } = await ask("getWorkspace", { path: workspace });
  await ask("replaceWorkspace", { path: workspace, json: { plan: "team" }, headers: matching(etag) });
  const credits = { amount_usd: "25.00", note: "Pilot, agreed by mail" };
  await ask("grantCredits", { path: workspace, json: credits, headers: { "Idempotency-Key": "pilot-research-1" } });
  await ask("replaceWorkspace", { path: workspace, json: { plan: null }, headers: { "If-Match": "*" } });
  await ask("deleteWorkspace", { path: workspace });
  await ask("deletePlan", { path: { plan_id: "team" } });
  await ask("listAudit", { query: { limit: "2" } });
  await ask("verifyAudit");
  await ask("listRequests", { query: { limit: "2" } });
  await ask("getAnyRequest", { path: { request_id: requestId } });
  await ask("getAllUsage", { query: { group_by: "workspace" } });
  await ask("getAllUsage", { accept: "text/csv" });
  await ask("listProviderDeletions");
  await ask("listRetirements");
  await ask("listJobs", { query: { limit: "2" } });
  await ask("listDeliveries");
  await ask("listSttWebhookDeliveries", { path: { tenant_id: "acme" } });
  await ask("getProviderHealth");
  await ask("applyConfiguration", { json: { dry_run: true } });
  await ask("getSandboxFaults");
  const faults = [{ provider: "deepgram", times: 3, failure: { kind: "status", status: 503 } }];
  await ask("replaceSandboxFaults", { json: { faults } });
  await ask("replaceSandboxFaults", { json: { faults: [] } });
  const model = { model_name: "demo-model" };
  await ask("listLocalModels");
  await ask("getLocalModel", { path: model });
  await ask("pullLocalModel", { path: model, json: { licence: "CC-BY-4.0" } });
  await ask("cancelLocalModelPull", { path: model });
}
