// The schema of workspaces with their apps and keys.
import { z } from "zod";
import {
  appFields,
  budgetLimits,
  expiryField,
  keyFields,
  nameField,
  PERIODS,
  roleField,
} from "../../contract/set-up/app.ts";
import { connectionSection } from "../../contract/set-up/connection.ts";
import { ID, optionalOrNull, section } from "../../contract/set-up/kit.ts";
import { routeSection } from "../../contract/set-up/route.ts";
import { DOMAINS, SECRET } from "./kit.ts";

const budgetSection = section({
  period: z.enum(PERIODS).describe("When the budget starts anew (UTC); `total` never."),
  ...budgetLimits,
});

const keySection = section({
  id: ID.describe("Name of the key, unique in its workspace."),
  secret: SECRET.describe(
    "The key itself: 24 to 128 visible ASCII characters; with an `svc_` prefix its checksum must hold.",
  ),
  name: nameField,
  role: roleField,
  ...keyFields,
});

const appSection = section({
  id: ID.describe("Name of the app, unique in its workspace."),
  ...appFields,
  budgets: z.array(budgetSection).default([]).describe("Budgets; a request that could exceed one is refused."),
  keys: z.array(keySection).default([]).describe("Keys of the app."),
});

const adminKeySection = section({
  id: ID.describe("Name of the key, unique in its workspace."),
  secret: SECRET.describe("The key itself, as for app keys."),
  name: nameField,
  expires_at: expiryField,
});

export const operatorKeySection = section({
  id: ID.describe("Name of the key."),
  secret: SECRET.describe("The key itself, as for app keys."),
  name: nameField,
  expires_at: expiryField,
});

export const workspaceSection = section({
  id: ID.describe("Slug of the workspace."),
  plan: optionalOrNull(ID).describe("Id of its plan; not set: no credit check."),
  connections: z
    .array(connectionSection)
    .default([])
    .describe("The workspace's own provider accounts; one with a platform connection's id replaces it here."),
  routes: z
    .array(routeSection)
    .default([])
    .describe("Routes visible to this workspace only; they may name platform and own connections."),
  audio_url_domains: DOMAINS.max(20)
    .default([])
    .describe("First allowlist for `audio.url`; afterwards the workspace rules it."),
  apps: z.array(appSection).default([]).describe("Apps of the workspace."),
  admin_keys: z.array(adminKeySection).default([]).describe("Keys of workspace administrators."),
});
