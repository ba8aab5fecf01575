// Provider accounts in the administration's API: the shared ones [admin.connections], and each workspace's own (BYOK)
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
import { PROVIDER_KINDS } from "./provider-kinds.ts";
import { connectionSection } from "./set-up/connection.ts";
import { everywhere } from "./set-up/everywhere.ts";
import { deletedView } from "./workspaces.ts";

export const connectionView = z.strictObject({
  object: z.literal("connection"),
  id: z.string(),
  kind: z.enum(PROVIDER_KINDS),
  base_url: z.string().nullable().describe("Null: the provider's own."),
  has_credential: z.boolean(),
  credential_last4: z.string().nullable().describe("All that is ever shown of it; null for short ones and key files."),
  timeout_seconds: z.number(),
  models: z.record(z.string(), z.unknown()).describe("As the configuration file writes them, defaults filled in."),
  managed_by: managedBy,
  created_at: time,
  updated_at: time,
});
export type ConnectionView = z.infer<typeof connectionView>;

export const credentialRequest = z.strictObject({
  api_key: z.string().min(1).max(16_384).describe("The new credential. The one before is gone at once."),
});

export const connectionQuery = z.object(pageFields);

const ALL = "/connections";
const ONE = `${ALL}/:connection_id`;
const errors = CHANGE_ERRORS;

export const listConnectionsContracts = everywhere({
  method: "GET",
  path: ALL,
  operationId: "listConnections",
  summary: "Provider accounts",
  description: "By id.",
  query: connectionQuery,
  responses: { 200: json("A page of connections.", listOf(connectionView)) },
  errors: [],
});

export const postConnectionContracts = everywhere({
  method: "POST",
  path: ALL,
  operationId: "createConnection",
  summary: "Connect a provider account",
  description:
    "Judged as the configuration file is. Nothing is called. A workspace's connection with the id of a platform one replaces it for this workspace; its `base_url` must be https with public addresses unless the operator opened private ranges (`byok.allowed_private_cidrs`), which is asked again at every call.",
  requestBody: { json: connectionSection },
  responses: { 201: jsonWithEtag("The connection.", connectionView) },
  errors: ["CONFLICT", "BODY_TOO_LARGE"],
});

export const getConnectionContracts = everywhere({
  method: "GET",
  path: ONE,
  operationId: "getConnection",
  summary: "One provider account",
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors: ["NOT_FOUND"],
});

export const putConnectionContracts = everywhere({
  method: "PUT",
  path: ONE,
  operationId: "replaceConnection",
  summary: "Change a provider account",
  description:
    "Replaces everything but the credential, which stays where `api_key` is not sent. It must be sent again when `kind` or the origin of `base_url` changes: no stored credential goes to an address it was not given for. A change that a published route could not live with is refused.",
  requestBody: { json: connectionSection },
  headers: requiredMatch,
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors: [...errors, "PRECONDITION_REQUIRED"],
});

export const rotateCredentialContracts = everywhere({
  method: "POST",
  path: `${ONE}/credential`,
  operationId: "rotateConnectionCredential",
  summary: "Replace the credential of a provider account",
  requestBody: { json: credentialRequest },
  headers: optionalMatch,
  responses: { 200: jsonWithEtag("The connection.", connectionView) },
  errors,
});

export const deleteConnectionContracts = everywhere({
  method: "DELETE",
  path: ONE,
  operationId: "deleteConnection",
  summary: "Remove a provider account that no published route names",
  description: "Jobs that were accepted on it and have not run are left with the other targets of their route.",
  headers: optionalMatch,
  responses: { 200: json("It is gone.", deletedView) },
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
