// Schemas and endpoints of the admin API for the apps of a workspace, for its administrators and the operator [admin.apps].
import { z } from "zod";
import { quotaView } from "../account.ts";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  mirrorForOperator,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import { dataPolicyRequirement } from "../settings/data-policy.ts";
import { appFields } from "../settings/app.ts";
import { PURPOSE_POLICY } from "../transcription/transcription-fields.ts";
import { deletedView, slug } from "./workspaces.ts";

export const appRequest = z.strictObject({
  slug: slug.describe("Name used in paths. Cannot be changed later."),
  ...appFields,
});
export const appChange = z.strictObject(appFields);

/** Purposes bound to an app, a key or a route. */
export const boundPurpose = z.strictObject({
  purpose: z.string(),
  description: z.string(),
  route: z.string().describe("Route that the purpose selects."),
  is_enabled: z.boolean(),
  is_published: z.boolean(),
  defaults: z.record(z.string(), z.unknown()),
  data_policy: dataPolicyRequirement.nullable(),
});

/** Null: none; for a key: the app's. */
export const routingView = {
  route: z.string().nullable(),
  audio_input_override: z.string().nullable(),
  audio_purpose_policy: PURPOSE_POLICY.nullable(),
  purposes: z.array(boundPurpose),
  quota: quotaView,
};

export const appView = z.strictObject({
  object: z.literal("app"),
  id: z.string(),
  workspace_id: z.string(),
  slug: z.string(),
  name: z.string(),
  ...routingView,
  default_purpose: z.string().nullable(),
  data_policy: dataPolicyRequirement.nullable(),
  managed_by: managedBy,
  created_at: time,
});
export type AppView = z.infer<typeof appView>;
export const appList = listOf(appView);

export const appQuery = z.object(pageFields);

const ONE = "/apps/:app_id";

export const APP_CONTRACTS = {
  list: mirrorForOperator({
    method: "GET",
    path: "/apps",
    operationId: "listApps",
    summary: "List a workspace's apps",
    query: appQuery,
    responses: { 200: json("A page of apps.", appList) },
    errors: [],
  }),
  create: mirrorForOperator({
    method: "POST",
    path: "/apps",
    operationId: "createApp",
    summary: "Create an app",
    requestBody: { json: appRequest },
    responses: { 201: jsonWithEtag("The app.", appView) },
    errors: ["CONFLICT", "BODY_TOO_LARGE"],
  }),
  read: mirrorForOperator({
    method: "GET",
    path: ONE,
    operationId: "getApp",
    summary: "Get an app by slug or id",
    responses: { 200: jsonWithEtag("The app.", appView) },
    errors: [],
  }),
  replace: mirrorForOperator({
    method: "PUT",
    path: ONE,
    operationId: "replaceApp",
    summary: "Replace an app's settings",
    description: "Replaces all settings: omitted ones get their default. Takes effect in every process within seconds.",
    requestBody: { json: appChange },
    headers: requiredMatch,
    responses: { 200: jsonWithEtag("The app.", appView) },
    errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
  }),
  remove: mirrorForOperator({
    method: "DELETE",
    path: ONE,
    operationId: "deleteApp",
    summary: "Delete an app without active keys",
    description: "Its revoked keys and its budgets are deleted too. Its jobs, requests and usage are kept.",
    headers: optionalMatch,
    responses: { 200: json("Deleted.", deletedView) },
    errors: CHANGE_ERRORS,
  }),
};
