// Schemas and endpoints of the admin API for the audit log: its entries and its verification, for the operator and a workspace's administrators
// [tenancy.audit-read].
import { z } from "zod";
import { filterFields, json, listOf, mirrorForOperator, operatorEndpoint, pageFields, time } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";

const change = z.record(z.string(), z.unknown()).nullable();

export const auditEntryView = z.strictObject({
  object: z.literal("audit_entry"),
  id: z.string(),
  workspace_id: z.string().nullable().describe("Null: not in a workspace."),
  at: time,
  actor_key_id: z.string().nullable().describe("Null: the configuration file, or the gateway itself."),
  action: z.string().describe("`noun.verb`, such as `audio_url_domains.replaced`."),
  target: z.string().describe("Id or name of the changed object."),
  before: change.describe("Null: the object was created."),
  after: change.describe("Null: the object was deleted."),
});
export type AuditEntryView = z.infer<typeof auditEntryView>;
export const auditEntryList = listOf(auditEntryView);

const filters = {
  ...pageFields,
  from: filterFields.from,
  to: filterFields.to,
  action: z.string().min(1).max(100).describe("Only this action.").optional(),
  actor: z.string().min(1).max(64).describe("Only changes made with this key.").optional(),
  target: z.string().min(1).max(200).describe("Only changes of this object.").optional(),
};
export const workspaceAuditQuery = z.object(filters);
export const auditQuery = z.object({
  ...filters,
  workspace: z.string().min(1).max(63).describe("Slug or id; `platform`: entries outside any workspace.").optional(),
});

export const listAuditContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/audit",
  operationId: "listAudit",
  summary: "List changes of all workspaces",
  description: "Newest first. Entries are never changed or deleted.",
  query: auditQuery,
  responses: { 200: json("A page of entries.", auditEntryList) },
  errors: ["NOT_FOUND"],
});

const AUDIT_FINDINGS = ["edited", "removed", "inserted", "moved", "broken", "rewritten", "head", "checkpoint"] as const;
export type AuditFindingKind = (typeof AUDIT_FINDINGS)[number];

const finding = z.strictObject({
  kind: z
    .enum(AUDIT_FINDINGS)
    .describe(
      "`edited`: a row's content does not match its hash. `removed`, `inserted`, `moved`: its position is wrong. `broken`: it does not continue the previous entry. `rewritten`: differs from a signed checkpoint. `head`: the end of the chain was changed. `checkpoint`: the signed checkpoint is invalid.",
    ),
  chain: z.string().describe("Id of the workspace, or `platform`."),
  seq: z.int().nullable().describe("Number of the entry in its chain."),
  id: z.string().nullable(),
  message: z.string(),
});
export type AuditFinding = z.infer<typeof finding>;

export const auditVerification = z.strictObject({
  object: z.literal("audit_verification"),
  ok: z.boolean(),
  chains: z.int().min(0),
  entries: z.int().min(0),
  checkpoint_at: time
    .nullable()
    .describe("Time of the last signed checkpoint. Null: none yet, so a truncated end cannot be detected."),
  findings: z.array(finding).describe("The first hundred."),
});
export type AuditVerification = z.infer<typeof auditVerification>;

export const verificationQuery = z.object({
  workspace: z
    .string()
    .min(1)
    .max(63)
    .describe("Slug or id; for a deleted workspace its id; `platform`: entries outside any workspace.")
    .optional(),
});

export const verifyAuditContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/audit/verification",
  operationId: "verifyAudit",
  summary: "Verify the audit log",
  description:
    "Reads every entry, recomputes its hash, follows the chains, and compares them with the last signed checkpoint. `patchbay audit verify` does the same without the gateway.",
  query: verificationQuery,
  responses: { 200: json("What was found.", auditVerification) },
  errors: ["NOT_FOUND"],
});

export const workspaceAuditContracts = mirrorForOperator({
  method: "GET",
  path: "/audit",
  operationId: "listWorkspaceAudit",
  summary: "List changes of a workspace",
  description: "Newest first. Entries are never changed or deleted.",
  query: workspaceAuditQuery,
  responses: { 200: json("A page of entries.", auditEntryList) },
  errors: [],
});
