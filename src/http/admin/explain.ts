// POST …/explain: explains the routing decision for a request without sending it (dry run) [admin.explain].
import { type Explained, explainRequest } from "../../admin/routes/explain-request.ts";
import { chatFields } from "../../contract/chat/checked-chat-fields.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import {
  explainContracts,
  explanationRequest,
  type ExplanationRequest,
} from "../../contract/admin/route-explanation.ts";
import { transcriptionFields, translationFields } from "../../contract/transcription/transcription-fields.ts";
import { refuseBoth } from "../endpoints/post-transcription.ts";
import { createFaults } from "../body/validation-issues.ts";
import { type FieldSchema, judgedFields } from "../body/fields.ts";
import { readPassedOn } from "../body/read-fields.ts";
import { everywhereEndpoint, type EverywhereEndpoint } from "./owner-endpoints.ts";
import type { AdminEdge } from "./frame.ts";

/** A chat's messages may be long. */
const MAX_BYTES = 1_048_576;

export function explainEndpoint(edge: AdminEdge): EverywhereEndpoint {
  return everywhereEndpoint(edge, explainContracts, async ({ request }, { scope }) => {
    const input = await readPassedOn(request, explanationRequest, { maxBytes: MAX_BYTES });
    refuseNulInNames(input);
    const { route = null, version = null } = input;
    const question = { scope, caller: callerOf(input), request: requestOf(input), route, version };
    return { status: 200, body: { json: await explainRequest(edge.explanations, question) } };
  });
}

/** Names are looked up in the database, which cannot store this character. The fields of the request are judged as any request's. */
function refuseNulInNames(input: ExplanationRequest): void {
  for (const name of ["app", "key_id", "route"] as const)
    if (input[name]?.includes("\0") === true) throw invalidRequest(name, "Text must not contain the character U+0000.");
}

function callerOf({ app, key_id: id, test_mode: testMode }: ExplanationRequest): Explained["caller"] {
  if (app !== undefined && id === undefined) return { kind: "app", app, testMode: testMode ?? false };
  if (id === undefined || app !== undefined)
    throw invalidRequest(app === undefined ? "app" : "key_id", "Set `app` or `key_id` to identify the caller.");
  if (testMode === undefined) return { kind: "key", id };
  throw invalidRequest("test_mode", "`test_mode` is determined by the key. Omit it.");
}

function requestOf(input: ExplanationRequest): Explained["request"] {
  const { task, fields, recording, encoding } = input;
  if (recording !== undefined && (task === "chat" || task === "realtime"))
    throw invalidRequest("recording", "`recording` is not allowed for this task. Omit it.");
  if (encoding !== undefined && task !== "realtime")
    throw invalidRequest("encoding", "`encoding` is only allowed for live audio (`task` realtime). Omit it.");
  switch (task) {
    case "chat":
      return { kind: "chat", fields: fieldsIn(chatFields, { messages: SHORT, ...fields }) };
    case "realtime":
      return {
        kind: "live",
        fields: fieldsIn(transcriptionFields.omit({ dry_run: true }), fields),
        encoding: encoding ?? "pcm_s16le",
      };
    case "transcribe":
      return { kind: "audio", task, fields: speechIn(transcriptionFields, fields), recording: recordingOf(recording) };
    case "translate":
      return { kind: "audio", task, fields: speechIn(translationFields, fields), recording: recordingOf(recording) };
  }
}

const SHORT = [{ role: "user", content: "Hello" }];

/** Validation messages name fields as in this body. Route-control fields are refused as in the real request. */
function fieldsIn<S extends FieldSchema>(schema: S, fields: object) {
  const faults = createFaults(schema.shape);
  for (const name of Object.keys(fields)) faults.noteRouteControl(name);
  return judgedFields(schema, fields, faults, "fields.");
}

function speechIn<S extends typeof transcriptionFields>(schema: S, fields: object) {
  const speechFields = fieldsIn(schema, fields);
  refuseBoth(speechFields, "fields.");
  return speechFields;
}

function recordingOf(recording: ExplanationRequest["recording"]) {
  if (recording === undefined) return null;
  const { format, channels, duration_seconds: durationSeconds, sample_rate: sampleRate } = recording;
  if (format === "mp3" && channels > 2)
    throw invalidRequest("recording.channels", "`recording.channels`: an mp3 has one channel or two.");
  const { bytes: sizeBytes, codec } = recording;
  return {
    format,
    durationSeconds,
    channels,
    sizeBytes: sizeBytes ?? null,
    codec: codec ?? null,
    sampleRate: sampleRate ?? null,
  };
}
