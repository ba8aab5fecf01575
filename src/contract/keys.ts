// API keys of a workspace, for its administrators and the operator [keys.shown-once].
import { z } from "zod";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  mirrored,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import { routingView } from "./apps.ts";
import { SCOPES } from "./scopes.ts";
import { keyFields, nameField, roleField, ROLES } from "./set-up/app.ts";

const settings = { name: nameField, ...keyFields };

export const keyRequest = z.strictObject({
  app: z
    .string()
    .min(1)
    .max(63)
    .nullable()
    .default(null)
    .describe("Slug or id of its app; not set: a key of an administrator, which belongs to none."),
  role: roleField,
  mode: z
    .enum(["live", "test"])
    .default("live")
    .describe("`test`: the sandbox answers in every provider's place, and nothing is spent."),
  ...settings,
});
export const keyChange = z.strictObject(settings);

/** Paddle and Stripe let two keys overlap; a week is the longest that either does. */
const MAX_OVERLAP_SECONDS = 604_800;

export const keyRotation = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(MAX_OVERLAP_SECONDS)
    .default(0)
    .describe("How long the old key goes on working, at most seven days. 0: it stops now."),
});

const KEY_STATES = ["active", "expired", "revoked"] as const;

export const keyView = z.strictObject({
  object: z.literal("key"),
  id: z.string(),
  workspace_id: z.string(),
  app_id: z.string().nullable().describe("Null: of an administrator."),
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
  last_used_at: time.nullable().describe("To the minute."),
  replaces: z.string().nullable().describe("The key it took over from."),
  secret: z.string().describe("The key itself. Only in the answer to the call that made it; never again.").optional(),
});
export type KeyView = z.infer<typeof keyView>;

export const keyQuery = z.object({
  ...pageFields,
  app: z.string().min(1).max(63).describe("Only this app's, by slug or id.").optional(),
  role: z.enum(ROLES).describe("Only keys of this role.").optional(),
  state: z.enum(KEY_STATES).describe("Only keys in this state.").optional(),
});

const ONE = "/keys/:key_id";
const BODY_ERRORS = ["CONFLICT", "BODY_TOO_LARGE"] as const;

export const KEY_CONTRACTS = {
  list: mirrored({
    method: "GET",
    path: "/keys",
    operationId: "listKeys",
    summary: "The workspace's keys, without their secrets",
    query: keyQuery,
    responses: { 200: json("A page of keys.", listOf(keyView)) },
    errors: [],
  }),
  create: mirrored({
    method: "POST",
    path: "/keys",
    operationId: "createKey",
    summary: "Make a key, shown this once",
    description: "It can be used at once, on every process.",
    requestBody: { json: keyRequest },
    responses: { 201: jsonWithEtag("The key, with its secret.", keyView) },
    errors: BODY_ERRORS,
  }),
  read: mirrored({
    method: "GET",
    path: ONE,
    operationId: "getKey",
    summary: "One key, without its secret",
    responses: { 200: jsonWithEtag("The key.", keyView) },
    errors: [],
  }),
  replace: mirrored({
    method: "PUT",
    path: ONE,
    operationId: "replaceKey",
    summary: "Set a key up anew",
    description: "The whole of it: what is not sent gets its default. App, role and mode stay.",
    requestBody: { json: keyChange },
    headers: requiredMatch,
    responses: { 200: jsonWithEtag("The key.", keyView) },
    errors: [...CHANGE_ERRORS, "PRECONDITION_REQUIRED"],
  }),
  rotate: mirrored({
    method: "POST",
    path: `${ONE}/rotate`,
    operationId: "rotateKey",
    summary: "Make a key that takes over from this one, shown this once",
    description:
      "It has everything of the old one but its secret and its id. The old one stops now, or after the overlap.",
    requestBody: { json: keyRotation },
    headers: optionalMatch,
    responses: { 201: jsonWithEtag("The new key, with its secret.", keyView) },
    errors: CHANGE_ERRORS,
  }),
  revoke: mirrored({
    method: "DELETE",
    path: ONE,
    operationId: "revokeKey",
    summary: "Revoke a key",
    description:
      "Every process refuses it within 5 s, and ends its streams, live sessions and long polls. Jobs and calls in progress are completed. It stays on the list.",
    headers: optionalMatch,
    responses: { 200: jsonWithEtag("The key, revoked.", keyView) },
    errors: CHANGE_ERRORS,
  }),
};
