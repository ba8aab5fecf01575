// Workspaces, their apps and keys (contract 2, 10).
import { z } from "zod";
import { SCOPES } from "../../contract/scopes.ts";
import { connectionSection } from "../../contract/set-up/connection.ts";
import { ID, maybe, PURPOSE_LABEL, section } from "../../contract/set-up/kit.ts";
import { purposeSection, routeReference, routeSection } from "../../contract/set-up/route.ts";
import { DOMAIN, MONEY, SECRET } from "./kit.ts";

export const ROLES = ["member", "admin"] as const;

const figure = maybe(z.int().min(1));
const time = z.iso.datetime({ offset: true, error: 'must be a time such as "2027-01-31T00:00:00Z"' });
const policy = z.enum(["fallback", "strict"]);

const quotaSection = section({
  requests_per_minute: figure.describe("Requests started per minute."),
  concurrent: figure.describe("Requests running at the same time."),
  audio_seconds_per_hour: figure.describe("Seconds of audio submitted per hour."),
  tokens_per_minute: figure.describe("Chat tokens per minute."),
});

const budgetSection = section({
  period: z.enum(["day", "month", "total"]).describe("When the budget starts anew (UTC); `total` never."),
  limit_usd: maybe(MONEY).describe("Most money, as a decimal in quotes."),
  limit_audio_seconds: figure.describe("Most seconds of audio."),
  limit_tokens: figure.describe("Most chat tokens."),
  soft_limit: maybe(z.number().gt(0).lt(1)).describe("Fraction of the limit at which a warning is given."),
});

const keySection = section({
  id: ID.describe("Name of the key, unique in its workspace."),
  secret: SECRET.describe(
    "The key itself: 24 to 128 visible ASCII characters; with an `svc_` prefix its checksum must hold.",
  ),
  name: maybe(z.string().min(1).max(100)).describe("What people call it."),
  role: z.enum(ROLES).default("member").describe("`admin` also administers the workspace."),
  scopes: z.array(z.enum(SCOPES)).default(["transcribe", "chat", "jobs"]).describe("What the key may do."),
  expires_at: maybe(time).describe("When the key stops working."),
  route: routeReference.describe("Route instead of the app's."),
  audio_input_override: routeReference.describe("Route of audio requests instead of the app's."),
  purposes: z.array(purposeSection).default([]).describe("Purposes bound to this key alone."),
  audio_purpose_policy: maybe(policy).describe(
    "Policy instead of the app's; the stricter of this and the request's wins.",
  ),
  quota: quotaSection.prefault({}).describe("Quota of this key; the smaller of this and the app's applies."),
});

const appSection = section({
  id: ID.describe("Name of the app, unique in its workspace."),
  name: maybe(z.string().min(1).max(100)).describe("What people call it."),
  route: ID.describe("Route of the app's requests."),
  audio_input_override: routeReference.describe("Route of audio requests, instead of `route`."),
  audio_purpose_policy: policy.default("fallback").describe("What happens when an audio purpose cannot be used."),
  default_purpose: maybe(PURPOSE_LABEL).describe("Purpose of requests that name none."),
  purposes: z.array(purposeSection).default([]).describe("Purposes bound to this app, added to each of its routes."),
  quota: quotaSection.prefault({}).describe("Quota of the whole app."),
  budgets: z.array(budgetSection).default([]).describe("Budgets; a request that could exceed one is refused."),
  keys: z.array(keySection).default([]).describe("Keys of the app."),
});

const adminKeySection = section({
  id: ID.describe("Name of the key, unique in its workspace."),
  secret: SECRET.describe("The key itself, as for app keys."),
  name: maybe(z.string().min(1).max(100)).describe("What people call it."),
  expires_at: maybe(time).describe("When the key stops working."),
});

export const operatorKeySection = section({
  id: ID.describe("Name of the key."),
  secret: SECRET.describe("The key itself, as for app keys."),
  name: maybe(z.string().min(1).max(100)).describe("What people call it."),
  expires_at: maybe(time).describe("When the key stops working."),
});

export const workspaceSection = section({
  id: ID.describe("Slug of the workspace."),
  plan: maybe(ID).describe("Id of its plan; not set: no credit check."),
  connections: z
    .array(connectionSection)
    .default([])
    .describe("The workspace's own provider accounts; one with a platform connection's id replaces it here."),
  routes: z
    .array(routeSection)
    .default([])
    .describe("Routes visible to this workspace only; they may name platform and own connections."),
  audio_url_domains: z
    .array(DOMAIN)
    .max(20)
    .default([])
    .describe("First allowlist for `audio.url`; afterwards the workspace rules it."),
  apps: z.array(appSection).default([]).describe("Apps of the workspace."),
  admin_keys: z.array(adminKeySection).default([]).describe("Keys of workspace administrators."),
});
