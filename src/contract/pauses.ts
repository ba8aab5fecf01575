// Pauses a provider account, or a model on it, by hand, and resumes it [admin.pause] [admin.pause-resume].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { MODEL } from "./set-up/kit.ts";
import { everywhere } from "./set-up/everywhere.ts";

/** A pause that is forgotten ends all the same. */
export const PAUSE_SECONDS = { least: 60, usual: 3_600, most: 604_800 } as const;

const ofModel = MODEL.nullable().default(null).describe("One model of the connection; null: all of them.");

export const pauseRequest = z.strictObject({
  model: ofModel,
  duration_seconds: z
    .int()
    .min(PAUSE_SECONDS.least)
    .max(PAUSE_SECONDS.most)
    .default(PAUSE_SECONDS.usual)
    .describe("From now on. It ends by itself: an hour unless told, seven days at most."),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .nullable()
    .default(null)
    .describe("For others who administer, and for the audit log. No caller is told."),
});

export const resumeRequest = z.strictObject({ model: ofModel });

export const pauseView = z.strictObject({
  object: z.literal("connection_pause"),
  workspace_id: z.string().nullable().describe("Whose account; null: the platform's."),
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
  ended: z.array(pauseView).describe("The pauses that this ended."),
  still_paused: z
    .array(pauseView)
    .describe("Those that go on and concern it: of the whole connection, where one model was named."),
});
export type Resumption = z.infer<typeof resumption>;

const ONE = "/connections/:connection_id";

export const listPausesContracts = everywhere({
  method: "GET",
  path: "/pauses",
  operationId: "listPauses",
  summary: "What is paused by hand",
  description: "By connection and model: those in force.",
  responses: { 200: json("All of them.", pauseList) },
  errors: [],
});

export const pauseConnectionContracts = everywhere({
  method: "POST",
  path: `${ONE}/pause`,
  operationId: "pauseConnection",
  summary: "Send nothing to a provider account, or to a model on it, for a while",
  description:
    "From the moment it is answered on this process, and on the others when they hear of it, no call begins there: the next target of a route serves, jobs wait for a target that has none, and without one the caller is refused as when every target rests. What is under way goes on. Sent again it replaces the pause of the same model. Connections of the configuration file can be paused as well. Test keys, which call the sandbox, are not concerned.",
  requestBody: { json: pauseRequest },
  responses: { 200: json("The pause.", pauseView) },
  errors: ["NOT_FOUND", "BODY_TOO_LARGE"],
});

export const resumeConnectionContracts = everywhere({
  method: "POST",
  path: `${ONE}/resume`,
  operationId: "resumeConnection",
  summary: "Let a provider account, or a model on it, serve again",
  description:
    "Ends what was paused by hand; of a whole connection the pauses of its models too. Rests after failures end with it, on every process that hears of it: the next failures count afresh. A process that hears nothing, because its database was away, lets its rest end by itself. Where nothing is paused and nothing rests, it changes nothing.",
  requestBody: { json: resumeRequest },
  responses: { 200: json("What ended, and what goes on.", resumption) },
  errors: ["NOT_FOUND", "BODY_TOO_LARGE"],
});

export const PAUSE_ENDPOINTS = [listPausesContracts, pauseConnectionContracts, resumeConnectionContracts];
