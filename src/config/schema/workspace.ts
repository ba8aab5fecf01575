// The schema of the configuration file's workspaces with their apps and keys, and of the operator's keys.
import { z } from "zod";
import {
  appFields,
  budgetLimits,
  expiryField,
  keyFields,
  nameField,
  PERIODS,
  roleField,
} from "../../contract/settings/app.ts";
import { connectionSection } from "../../contract/settings/connection.ts";
import { ID, optionalOrNull, section } from "../../contract/settings/kit.ts";
import { routeSection } from "../../contract/settings/route.ts";
import { workspaceAlertDestination } from "./alerts.ts";
import { DOMAINS, SECRET } from "./kit.ts";

const budgetSection = section({
  period: z.enum(PERIODS).describe("When the budget resets (UTC); `total` never resets."),
  ...budgetLimits,
});

const keySection = section({
  id: ID.describe("Name of the key, unique in its workspace."),
  secret: SECRET.describe(
    "The key itself: 24 to 128 visible ASCII characters; with an `svc_` prefix its checksum must be valid.",
  ),
  name: nameField,
  role: roleField,
  ...keyFields,
});

const appSection = section({
  id: ID.describe("Name of the app, unique in its workspace."),
  ...appFields,
  budgets: z.array(budgetSection).default([]).describe("Budgets; a request that could exceed one is rejected."),
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
    .describe("The workspace's own provider accounts; one with the id of a shared connection replaces it."),
  routes: z
    .array(routeSection)
    .default([])
    .describe("Routes visible to this workspace only; they may use shared and own connections."),
  audio_url_domains: DOMAINS.max(20)
    .default([])
    .describe("Initial allowlist for `audio.url`; the workspace manages it afterwards."),
  alerts: z
    .array(workspaceAlertDestination)
    .max(5)
    .default([])
    .describe(
      "Destinations of alerts about the workspace's own budgets, deliveries and jobs. Changes apply at the next start.",
    ),
  apps: z.array(appSection).default([]).describe("Apps of the workspace."),
  admin_keys: z.array(adminKeySection).default([]).describe("Keys of workspace administrators."),
});
