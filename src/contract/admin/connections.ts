// Schemas and endpoints of the admin API for connections (provider accounts): shared ones [admin.connections], and each workspace's own (BYOK)
// [admin.connection-byok].
import { z } from "zod";
import {
  CHANGE_ERRORS,
  json,
  jsonWithEtag,
  listOf,
  managedBy,
  optionalMatch,
  pageFields,
  requiredMatch,
  time,
} from "./admin.ts";
import { testConnectionContracts } from "./connection-test.ts";
import { dataPolicyStatement } from "../settings/data-policy.ts";
import { connectionSection, providerKind } from "../settings/connection.ts";
import { mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";
import { deletedView } from "./workspaces.ts";

export const connectionView = z.strictObject({
  object: z.literal("connection"),
  id: z.string(),
  kind: providerKind,
  base_url: z.string().nullable().describe("Null: the provider's default, or that of its `region`."),
  region: z.string().nullable().describe("Regional address of the provider. Null: none selected."),
  data_policy: dataPolicyStatement
    .nullable()
    .describe("What the owner of the account states about the data. Null: nothing."),
  has_credential: z.boolean(),
  credential_last4: z
    .string()
    .nullable()
    .describe("The only visible part of the credential. Null for short ones and key files."),
  timeout_seconds: z.number(),
  models: z
    .record(z.string(), z.unknown())
    .describe("In the format of the configuration file, with defaults filled in."),
  managed_by: managedBy,
  created_at: time,
  updated_at: time,
});
export type ConnectionView = z.infer<typeof connectionView>;
export const connectionList = listOf(connectionView);

export const credentialRequest = z.strictObject({
  api_key: z.string().min(1).max(16_384).describe("The new credential. It replaces the previous one at once."),
});

export const connectionQuery = z.object(pageFields);

const ALL = "/connections";
const ONE = `${ALL}/:connection_id`;
const errors = CHANGE_ERRORS;

export const listConnectionsContracts = mirrorForAllOwners({
  method: "GET",
  path: ALL,
  operationId: "listConnections",
  summary: "List provider accounts",
  description: "Ordered by id.",
  query: connectionQuery,
  responses: { 200: json("A page of connections.", connectionList) },
  errors: [],
});

export const postConnectionContracts = mirrorForAllOwners({
  method: "POST",
  path: ALL,
  operationId: "createConnection",
  summary: "Create a provider account",
  description:
    "Validated like the configuration file. No call is made. A workspace's connection with the id of a shared one replaces it for this workspace. Its `base_url` must be https with public addresses, unless the operator allows private ranges (`byok.allowed_private_cidrs`); this is checked again at every call.",
  requestBody: { json: connectionSection },
  responses: { 201: jsonWithEtag("The connection.", connectionView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});

export const getConnectionContracts = mirrorForAllOwners({
  method: "GET",
  path: ONE,
  operationId: "getConnection",
  summary: "Get a provider account",
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors: ["NOT_FOUND"],
});

export const putConnectionContracts = mirrorForAllOwners({
  method: "PUT",
  path: ONE,
  operationId: "replaceConnection",
  summary: "Update a provider account",
  description:
    "Replaces everything except the credential, which is kept if `api_key` is omitted. It must be sent again if `kind` or the origin of `base_url` changes, because a stored credential is never sent to an address it was not given for. A change that would invalidate a published route is refused.",
  requestBody: { json: connectionSection },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors: [...errors, "PRECONDITION_REQUIRED"],
});

export const rotateCredentialContracts = mirrorForAllOwners({
  method: "POST",
  path: `${ONE}/credential`,
  operationId: "rotateConnectionCredential",
  summary: "Replace the credential of a provider account",
  requestBody: { json: credentialRequest },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors,
});

export const deleteConnectionContracts = mirrorForAllOwners({
  method: "DELETE",
  path: ONE,
  operationId: "deleteConnection",
  summary: "Delete a provider account that no published route uses",
  description: "Accepted jobs that have not run yet continue with the other targets of their route.",
  headers: optionalMatch,
  responses: { 200: json("Deleted.", deletedView) },
  errors,
});

export const CONNECTION_ENDPOINTS = [
  listConnectionsContracts,
  postConnectionContracts,
  getConnectionContracts,
  putConnectionContracts,
  rotateCredentialContracts,
  testConnectionContracts,
  deleteConnectionContracts,
];
