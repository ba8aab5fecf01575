// Two workspaces with one object of every kind that a path can name, for the matrix of tenancy. A kind of parameter without a row here
// fails the matrix by its name [tenancy.matrix-complete].
import assert from "node:assert/strict";
import { newId } from "../../../src/contract/ids.ts";
import { ConnectFailure } from "../../../src/outbound/dial.ts";
import { createResultTokens } from "../../../src/objects/result-token.ts";
import { postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY, PEPPER, type TestGateway } from "../../harness/gateway.ts";
import { ended, JOBS } from "../jobs/jobs.ts";
import { ADMIN_KEY, adminFile, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway } from "./admin.ts";
import { targets } from "./set-up.ts";

export const SECOND_APP_KEY = "test-key-of-the-second-app-0001";
const SCOPES = ["transcribe", "chat", "jobs"] as const;

export interface Tenant {
  readonly slug: string;
  readonly member: string;
  readonly admin: string;
  /** By the name of the path's parameter. */
  readonly objects: Readonly<Record<string, string>>;
}

export interface World {
  readonly gateway: TestGateway;
  readonly acme: Tenant;
  readonly other: Tenant;
  /** The shared objects. */
  readonly platform: Readonly<Record<string, string>>;
  /** What names nothing at all, of the form that such a name has. */
  readonly missing: Readonly<Record<string, string>>;
}

export async function openTenancyWorld(): Promise<World> {
  await using opened = new AsyncDisposableStack();
  const gateway = await startAdminGateway({
    file: (sandbox) => {
      const file = adminFile(sandbox);
      const [acme, other] = file.workspaces ?? [];
      acme?.apps?.[0]?.keys?.splice(0, 1, { id: "notes-key", secret: KEY, scopes: [...SCOPES] });
      other?.apps?.[0]?.keys?.splice(0, 1, { id: "other-key", secret: OTHER_KEY, scopes: [...SCOPES] });
      for (const { id, apps } of [acme, other].flatMap((each) => each ?? []))
        if (apps?.[0] !== undefined) apps[0].purposes = [{ purpose: `${id}-purpose`, route: "speech" }];
      acme?.apps?.push({
        id: "second",
        route: "speech",
        keys: [{ id: "second-key", secret: SECOND_APP_KEY, scopes: [...SCOPES] }],
      });
      return { ...file, models: { fetch: "never" } };
    },
    // Receivers have an address, and no host answers there.
    network: { resolve: async () => ["93.184.216.34"], connect: () => Promise.reject(new ConnectFailure("connect")) },
  });
  opened.defer(() => gateway.close());
  const acme = await makeTenant(gateway, { slug: "acme", member: KEY, admin: ADMIN_KEY, period: "month" });
  const other = await makeTenant(gateway, { slug: "other", member: OTHER_KEY, admin: OTHER_ADMIN_KEY, period: "day" });
  await gateway.app.requestLog.flush();
  // Signed by the gateway's own secret, so that what it says is judged and not its signature.
  const token = (workspaceId: string, jobId: string) =>
    createResultTokens({ secret: PEPPER }).sign({ workspaceId, jobId }, new Date(Date.now() + 600_000));
  const { workspace_id: otherId = "" } = other.objects;
  const platform = await makePlatform(gateway);
  opened.move();
  return {
    gateway,
    acme: { ...acme, objects: { ...acme.objects, token: token(otherId, acme.objects["job_id"] ?? "") } },
    other: { ...other, objects: { ...other.objects, token: token(otherId, other.objects["job_id"] ?? "") } },
    platform,
    missing: {
      tenant_id: "nobody",
      job_id: newId("job"),
      request_id: newId("request"),
      delivery_id: newId("delivery"),
      app_id: newId("app"),
      key_id: newId("key"),
      connection_id: "no-such-account",
      route_id: "no-such-route",
      version: "9",
      label: "no-such-label",
      model: "purpose/no-such-purpose",
      purpose: "no-such-purpose",
      period: "total",
      plan_id: "no-such-plan",
      model_name: "no-such-model",
      token: token(otherId, newId("job")),
    },
  };
}

interface Making {
  readonly slug: string;
  readonly member: string;
  readonly admin: string;
  readonly period: string;
}

async function makeTenant(gateway: TestGateway, { slug, member, admin, period }: Making): Promise<Tenant> {
  const at = `/workspace/${slug}`;
  const ask = async (method: string, path: string, body: object = {}, headers = {}) => {
    const answer = await call(gateway, method, `${at}${path}`, { key: admin, body, headers });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.json as Readonly<Record<string, string>>;
  };
  const app = await ask("POST", "/apps", { slug: `${slug}-app`, route: "speech" });
  const key = await ask("POST", "/keys", { app: `${slug}-app` });
  await ask("PUT", `/apps/${slug}-app/budgets/${period}`, { limit_tokens: 5 });
  const account = { kind: "deepgram", api_key: `secret-of-${slug}`, base_url: `https://account.${slug}.example` };
  await ask("POST", "/connections", { id: `${slug}-account`, ...account });
  await ask("POST", "/routes", { id: `${slug}-route`, targets: targets(["dg", "nova-3"]) });
  await ask("POST", `/routes/${slug}-route/publish`);
  const purpose = { route: "speech", is_enabled: true };
  await ask("PUT", `/routes/${slug}-route/purposes/${slug}-label`, purpose, { "if-match": "*" });
  // One version more than the other workspace's route has.
  if (slug === "acme")
    await ask("PUT", `/routes/${slug}-route`, { targets: targets(["dg", "nova-2"]) }, { "if-match": "*" });
  await ask("PUT", "/stt-webhook", { url: `https://${slug}.example/hook-of-${slug}` });
  const delivery = await ask("POST", "/stt-webhook/test");
  await ask("PUT", "/audio-url-domains", { domains: [`media.${slug}.example`] });
  const job = await postForm(gateway.origin, { path: JOBS, key: member });
  assert.equal(job.status, 202, job.text);
  const { job_id: jobId } = job.json as { readonly job_id: string };
  await ended(gateway.origin, jobId, member);
  return {
    slug,
    member,
    admin,
    objects: {
      tenant_id: slug,
      workspace_id: app["workspace_id"] ?? "",
      job_id: jobId,
      request_id: job.headers.get("x-request-id") ?? "",
      delivery_id: delivery["id"] ?? "",
      app_id: app["id"] ?? "",
      key_id: key["id"] ?? "",
      connection_id: `${slug}-account`,
      route_id: `${slug}-route`,
      version: slug === "acme" ? "3" : "2",
      label: `${slug}-label`,
      model: `purpose/${slug}-purpose`,
      purpose: `${slug}-purpose`,
      period,
    },
  };
}

async function makePlatform(gateway: TestGateway): Promise<Readonly<Record<string, string>>> {
  const ask = async (method: string, path: string, body: object = {}, headers = {}) => {
    const answer = await call(gateway, method, `/admin/v1${path}`, { key: OPERATOR_KEY, body, headers });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  };
  const account = { kind: "deepgram", api_key: "secret-of-platform", base_url: gateway.sandbox.deepgramUrl };
  await ask("POST", "/connections", { id: "own-account", ...account });
  await ask("POST", "/routes", { id: "own-route", targets: targets(["dg", "nova-3"]) });
  await ask("POST", "/routes/own-route/publish");
  await ask("PUT", "/routes/own-route/purposes/own-label", { route: "speech" }, { "if-match": "*" });
  await ask("POST", "/plans", { id: "own-plan" });
  return {
    connection_id: "own-account",
    route_id: "own-route",
    version: "2",
    label: "own-label",
    plan_id: "own-plan",
    model_name: "silero-vad",
  };
}

/** It may be tried. */
const UNUSED_ACCOUNT = { kind: "deepgram", api_key: "taken-secret", base_url: "https://taken.invalid" };

/** A body that each operation would take: what is refused is refused for whose object it names. */
export const BODIES: Readonly<Record<string, (at: { readonly name: string }) => object | FormData>> = {
  createTranscription: () => audio(),
  createTranslation: () => audio(),
  createAudioTranscription: () => audio({ model: "auto" }),
  createAudioTranslation: () => audio({ model: "auto" }),
  createTranscriptionJob: () => audio(),
  createChat: () => ({ messages: [{ role: "user", content: "Hello" }] }),
  createChatCompletion: () => ({ model: "auto", messages: [{ role: "user", content: "Hello" }] }),
  putSttWebhook: () => ({ url: "https://taken.example/hook", rotate_secret: true }),
  checkAudioUrl: () => ({ url: "https://media.example.com/a.wav" }),
  putAudioUrlDomains: () => ({ domains: ["taken.example.com"] }),
  createApp: ({ name }) => ({ slug: name, route: "speech" }),
  replaceApp: () => ({ route: "speech", name: "taken" }),
  createKey: () => ({ role: "admin" }),
  replaceKey: () => ({ name: "taken" }),
  rotateKey: () => ({ overlap_seconds: 60 }),
  putBudget: () => ({ limit_tokens: 1_000_000 }),
  createConnection: ({ name }) => ({ id: name, ...UNUSED_ACCOUNT }),
  replaceConnection: () => UNUSED_ACCOUNT,
  pauseConnection: () => ({}),
  resumeConnection: () => ({}),
  rotateConnectionCredential: () => ({ api_key: "taken-secret" }),
  createRoute: ({ name }) => ({ id: name, targets: targets(["dg", "nova-3"]) }),
  reviseRoute: () => ({ targets: targets(["dg", "nova-2"]) }),
  publishRoute: () => ({}),
  rollBackRoute: () => ({ version: 2 }),
  putPurpose: () => ({ route: "speech", is_enabled: false }),
  createWorkspace: ({ name }) => ({ slug: name }),
  replaceWorkspace: () => ({ plan: null }),
  createPlan: ({ name }) => ({ id: name }),
  replacePlan: () => ({ monthly_chat_tokens: 7 }),
  grantCredits: () => ({ amount_usd: "1", note: "for the matrix" }),
  // The owner of the request is in the body and not in the path: explain.test.ts has the rows of that.
  explainRequest: () => ({ task: "chat" }),
  callMcp: () => ({ jsonrpc: "2.0", id: 1, method: "ping" }),
  applyConfiguration: () => ({ dry_run: true }),
  replaceSandboxFaults: () => ({ faults: [] }),
  // Refused, because the installation downloads nothing.
  pullLocalModel: () => ({ licence: "MIT" }),
};

/** Empty: it is refused as soon as it is read, and costs nothing. */
function audio(fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([]), "audio.wav");
  return form;
}
