// The audit log as the operator and a workspace's administrators read it [tenancy.audit-read].
import { z } from "zod";
import { json, listOf, mirrored, operatorEndpoint, pageFields, time } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";
import { givenTime } from "./times.ts";

const change = z.record(z.string(), z.unknown()).nullable();

export const auditEntryView = z.strictObject({
  object: z.literal("audit_entry"),
  id: z.string(),
  workspace_id: z.string().nullable().describe("Null: the platform itself."),
  at: time,
  actor_key_id: z.string().nullable().describe("Null: the configuration file, or the gateway itself."),
  action: z.string().describe("`noun.verb`, such as `audio_url_domains.replaced`."),
  target: z.string().describe("What was changed: an id or a name."),
  before: change.describe("Null: there was nothing."),
  after: change.describe("Null: nothing is left."),
});
export type AuditEntryView = z.infer<typeof auditEntryView>;

const moment = givenTime();

const filters = {
  ...pageFields,
  from: moment.describe("Not before this time.").optional(),
  to: moment.describe("Before this time.").optional(),
  action: z.string().min(1).max(100).describe("Only this action.").optional(),
  actor: z.string().min(1).max(64).describe("Only what this key did.").optional(),
  target: z.string().min(1).max(200).describe("Only what was done to this.").optional(),
};
export const workspaceAuditQuery = z.object(filters);
export const auditQuery = z.object({
  ...filters,
  workspace: z.string().min(1).max(63).describe("Slug or id; `platform`: the platform's own entries.").optional(),
});

export const listAuditContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/audit",
  operationId: "listAudit",
  summary: "Who changed what",
  description: "Newest first. Entries are never changed and never go.",
  query: auditQuery,
  responses: { 200: json("A page of entries.", listOf(auditEntryView)) },
  errors: ["NOT_FOUND"],
});

const AUDIT_FINDINGS = ["edited", "removed", "inserted", "moved", "broken", "rewritten", "head", "checkpoint"] as const;
export type AuditFindingKind = (typeof AUDIT_FINDINGS)[number];

const finding = z.strictObject({
  kind: z
    .enum(AUDIT_FINDINGS)
    .describe(
      "`edited`: a row's content does not fit its hash. `removed`, `inserted`, `moved`: its place. `broken`: it does not follow upon the one before. `rewritten`: not what a signed checkpoint saw. `head`: where the chain ends was changed. `checkpoint`: the signed one does not hold.",
    ),
  chain: z.string().describe("A workspace's id, or `platform`."),
  seq: z.int().nullable().describe("The entry's number in its chain."),
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
    .describe("Of the last signed checkpoint; null: there is none yet, so that an end cut off cannot be seen."),
  findings: z.array(finding).describe("The first hundred."),
});
export type AuditVerification = z.infer<typeof auditVerification>;

export const verificationQuery = z.object({
  workspace: z
    .string()
    .min(1)
    .max(63)
    .describe("Slug or id; of a removed one its id; `platform`: the platform's own.")
    .optional(),
});

export const verifyAuditContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: "/audit/verification",
  operationId: "verifyAudit",
  summary: "Check the audit log's chains",
  description:
    "Reads every entry, computes its hash anew and follows the chains; then holds them against the last signed checkpoint. `patchbay audit verify` does the same without the gateway.",
  query: verificationQuery,
  responses: { 200: json("What was found.", auditVerification) },
  errors: ["NOT_FOUND"],
});

export const workspaceAuditContracts = mirrored({
  method: "GET",
  path: "/audit",
  operationId: "listWorkspaceAudit",
  summary: "Who changed what in this workspace",
  description: "Newest first. Entries are never changed and never go.",
  query: workspaceAuditQuery,
  responses: { 200: json("A page of entries.", listOf(auditEntryView)) },
  errors: [],
});
