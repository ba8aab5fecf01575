// Schemas and endpoints of the admin API for a workspace's API keys, for its administrators and the operator [keys.shown-once].
import { z } from "zod";
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
import { routingView } from "./apps.ts";
import { SCOPES } from "../scopes.ts";
import { keyFields, nameField, roleField, ROLES } from "../settings/app.ts";

const settings = { name: nameField, ...keyFields };

export const keyRequest = z.strictObject({
  app: z
    .string()
    .min(1)
    .max(63)
    .nullable()
    .default(null)
    .describe("Slug or id of its app. Not set: an administrator's key, without an app."),
  role: roleField,
  mode: z
    .enum(["live", "test"])
    .default("live")
    .describe("`test`: the sandbox answers in place of every provider, at no cost."),
  ...settings,
});
export const keyChange = z.strictObject(settings);

/** The overlap of two keys during rotation. One week is the longest that Paddle or Stripe allows. */
const MAX_OVERLAP_SECONDS = 604_800;

export const keyRotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(MAX_OVERLAP_SECONDS)
    .default(0)
    .describe("How long the old key remains valid, at most seven days. 0: it is revoked at once."),
});

const KEY_STATES = ["active", "expired", "revoked"] as const;

export const keyView = z.strictObject({
  object: z.literal("key"),
  id: z.string(),
  workspace_id: z.string(),
  app_id: z.string().nullable().describe("Null: an administrator's key."),
  name: z.string(),
  role: z.enum(ROLES),
  state: z.enum(KEY_STATES),
  scopes: z.array(z.enum(SCOPES)),
  prefix: z.string(),
  last4: z.string(),
  ...routingView,
  managed_by: managedBy,
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable().describe("Precise to the minute."),
  replaces: z.string().nullable().describe("Id of the key that it replaces."),
  secret: z.string().describe("The key itself. Only in the answer that creates it.").optional(),
});
export type KeyView = z.infer<typeof keyView>;
export const keyList = listOf(keyView);

export const keyQuery = z.object({
  ...pageFields,
  app: z.string().min(1).max(63).describe("Only keys of this app, by slug or id.").optional(),
  role: z.enum(ROLES).describe("Only keys of this role.").optional(),
  state: z.enum(KEY_STATES).describe("Only keys in this state.").optional(),
});

const ONE = "/keys/:key_id";
const BODY_ERRORS = ["CONFLICT", "BODY_TOO_LARGE"] as const;

export const KEY_CONTRACTS = {
  list: mirrorForOperator({
    method: "GET",
    path: "/keys",
    operationId: "listKeys",
    summary: "List a workspace's keys, without their secrets",
    query: keyQuery,
    responses: { 200: json("A page of keys.", keyList) },
    errors: [],
  }),
  create: mirrorForOperator({
    method: "POST",
    path: "/keys",
    operationId: "createKey",
    summary: "Create a key; its secret is shown once",
    description: "It is valid at once in every process.",
    requestBody: { json: keyRequest },
    responses: { 201: jsonWithEtag("The key, with its secret.", keyView) },
    errors: BODY_ERRORS,
  }),
  read: mirrorForOperator({
    method: "GET",
    path: ONE,
    operationId: "getKey",
    summary: "Get a key, without its secret",
    responses: { 200: jsonWithEtag("The key.", keyView) },
    errors: [],
  }),
  replace: mirrorForOperator({
    method: "PUT",
    path: ONE,
    operationId: "replaceKey",
    summary: "Replace a key's settings",
    description: "Replaces all settings: omitted ones get their default. App, role and mode cannot be changed.",
    requestBody: { json: keyChange },
    headers: requiredMatch,
    responses: { 200: jsonWithEtag("The key.", keyView) },
    errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
  }),
  rotate: mirrorForOperator({
    method: "POST",
    path: `${ONE}/rotate`,
    operationId: "rotateKey",
    summary: "Rotate a key; the new secret is shown once",
    description:
      "The new key has all settings of the old one, with a new secret and id. The old one is revoked at once, or after the overlap.",
    requestBody: { json: keyRotation },
    headers: optionalMatch,
    responses: { 201: jsonWithEtag("The new key, with its secret.", keyView) },
    errors: CHANGE_ERRORS,
  }),
  revoke: mirrorForOperator({
    method: "DELETE",
    path: ONE,
    operationId: "revokeKey",
    summary: "Revoke a key",
    description:
      "Every process refuses it within 5 s, and ends its streams, live sessions and long polls. Jobs and calls in progress are completed. It stays in the list.",
    headers: optionalMatch,
    responses: { 200: jsonWithEtag("The key, revoked.", keyView) },
    errors: CHANGE_ERRORS,
  }),
};
