// Schemas and endpoints of the admin API that manually pause a provider account, or one model on it, and resume it [admin.pause] [admin.pause-resume].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { MODEL } from "../settings/kit.ts";
import { mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";

/** A forgotten pause ends after its duration. */
export const PAUSE_SECONDS = { least: 60, usual: 3_600, most: 604_800 } as const;

const ofModel = MODEL.nullable().default(null).describe("One model of the connection. Null: all models.");

export const pauseRequest = z.strictObject({
  model: ofModel,
  duration_seconds: z
    .int()
    .min(PAUSE_SECONDS.least)
    .max(PAUSE_SECONDS.most)
    .default(PAUSE_SECONDS.usual)
    .describe("Duration from now. Default: one hour; at most seven days. The pause ends by itself."),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .nullable()
    .default(null)
    .describe("For other administrators and the audit log. Callers do not see it."),
});

export const resumeRequest = z.strictObject({ model: ofModel });

export const pauseView = z.strictObject({
  object: z.literal("connection_pause"),
  workspace_id: z.string().nullable().describe("Workspace that owns the account. Null: shared."),
  connection: z.string(),
  model: z.string().nullable().describe("Null: all models of the connection."),
  until: time,
  reason: z.string().nullable(),
  created_by: z.string().describe("Id of the key that paused it."),
  created_at: time,
});
export type PauseView = z.infer<typeof pauseView>;

export const pauseList = z.strictObject({ object: z.literal("list"), data: z.array(pauseView) });
export type PauseList = z.infer<typeof pauseList>;

export const resumption = z.strictObject({
  object: z.literal("connection_resumption"),
  connection: z.string(),
  model: z.string().nullable(),
  ended: z.array(pauseView).describe("The pauses that were ended."),
  still_paused: z
    .array(pauseView)
    .describe("Remaining pauses that affect it: of the whole connection, if one model was named."),
});
export type Resumption = z.infer<typeof resumption>;

const ONE = "/connections/:connection_id";

export const listPausesContracts = mirrorForAllOwners({
  method: "GET",
  path: "/pauses",
  operationId: "listPauses",
  summary: "List manual pauses",
  description: "Pauses in force, ordered by connection and model.",
  responses: { 200: json("All of them.", pauseList) },
  errors: [],
});

export const pauseConnectionContracts = mirrorForAllOwners({
  method: "POST",
  path: `${ONE}/pause`,
  operationId: "pauseConnection",
  summary: "Pause a provider account, or a model on it",
  description:
    "No new call is sent there, at once in this process, and in the others when they are notified. The next target of a route is used; jobs wait if there is none, and other requests are refused as if every target were unavailable. Calls in flight continue. A repeated call replaces the pause of the same model. Connections of the configuration file can be paused too. Test keys, which use the sandbox, are not affected.",
  requestBody: { json: pauseRequest },
  responses: { 200: json("The pause.", pauseView) },
  errors: ["NOT_FOUND", "BODY_TOO_LARGE"],
});

export const resumeConnectionContracts = mirrorForAllOwners({
  method: "POST",
  path: `${ONE}/resume`,
  operationId: "resumeConnection",
  summary: "Resume a provider account, or a model on it",
  description:
    "Ends the manual pause; for a whole connection also the pauses of its models. It also closes circuits that are open after failures, in every process that is notified, and resets their failure counts. A process that misses the notification, because its database was unavailable, waits for the end of the cooldown. Without a pause or an open circuit, nothing changes.",
  requestBody: { json: resumeRequest },
  responses: { 200: json("Ended and remaining pauses.", resumption) },
  errors: ["NOT_FOUND", "BODY_TOO_LARGE"],
});

export const PAUSE_ENDPOINTS = [listPausesContracts, pauseConnectionContracts, resumeConnectionContracts];
