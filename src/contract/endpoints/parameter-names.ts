// The names of query and header parameters that several operations of the OpenAPI documents share [api.openapi-components]. A path parameter has its own name.
import type { z } from "zod";
import { filterFields, optionalMatch, pageFields, requiredMatch } from "../admin/admin.ts";
import { auditQuery } from "../admin/audit.ts";
import { deletionsQuery } from "../admin/provider-deletions.ts";
import { retirementsQuery } from "../admin/retirements.ts";
import { requestsQuery } from "../admin/request-list.ts";
import { jobsQuery } from "../admin/job-list.ts";
import { adminUsageQuery } from "../usage.ts";
import { deliveryQuery } from "../webhook.ts";
import { routedHeaders } from "./endpoint-transcription.ts";

/** Fields of a query or of headers, including their `optional()`. */
export const PARAMETER_NAMES: Readonly<Record<string, z.ZodType>> = {
  AppFilter: filterFields.app,
  AuditAction: auditQuery.shape.action,
  AuditActor: auditQuery.shape.actor,
  AuditTarget: auditQuery.shape.target,
  DeletionStatus: deletionsQuery.shape.status,
  DeliveryStatus: deliveryQuery.shape.status,
  FirstDay: adminUsageQuery.shape.from,
  From: filterFields.from,
  IdempotencyKey: routedHeaders.shape["Idempotency-Key"],
  IfMatch: optionalMatch.shape["If-Match"],
  JobFilter: jobsQuery.shape.job,
  JobStatus: jobsQuery.shape.status,
  KeyFilter: filterFields.key,
  LastDay: adminUsageQuery.shape.to,
  PageCursor: pageFields.cursor,
  PageLimit: pageFields.limit,
  PurposeHeader: routedHeaders.shape["X-SVC-Purpose"],
  PurposePolicyHeader: routedHeaders.shape["X-SVC-Purpose-Policy"],
  RecordedFrom: requestsQuery.shape.recorded_from,
  RequestCode: requestsQuery.shape.code,
  RequestOutcome: requestsQuery.shape.outcome,
  RetirementHorizon: retirementsQuery.shape.within_days,
  RequiredIfMatch: requiredMatch.shape["If-Match"],
  To: filterFields.to,
  UsageApp: adminUsageQuery.shape.app,
  UsageGroups: adminUsageQuery.shape.group_by,
  WorkspaceFilter: filterFields.workspace,
};
