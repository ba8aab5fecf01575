// The input schemas of the MCP tools: the fields of the endpoints, with the recording as a URL or, for a client on this machine, a file's path.
import { z } from "zod";
import { jobFields } from "../contract/jobs.ts";
import { transcriptionFields } from "../contract/transcription/transcription-fields.ts";
import type { Recording } from "./tool-gateway.ts";

const url = z.string().max(8192).describe("https:// URL that the gateway fetches.");
const path = z.string().min(1).describe("Audio or video file on this machine.");

/** A client over the network shares no file system with the gateway. */
function withRecording(fields: z.ZodObject, readsFiles: boolean): z.ZodType<Recording> {
  if (!readsFiles) return fields.extend({ url });
  return fields
    .extend({ path: path.optional(), url: url.optional() })
    .refine((input) => (input.path === undefined) !== (input.url === undefined), "Set either `path` or `url`.");
}

/** Transport fields are not the tool user's concern. */
export const transcribeInput = (readsFiles: boolean) =>
  withRecording(transcriptionFields.omit({ mode: true, stream: true }), readsFiles);
export const submitInput = (readsFiles: boolean) => withRecording(jobFields, readsFiles);

export const jobInput = z.strictObject({ job_id: z.string().min(1).max(100) });
export const waitedJobInput = jobInput.extend({
  wait_seconds: z.int().min(0).max(60).describe("Seconds to wait for its end (default: 0).").optional(),
});
export const requestInput = z.strictObject({
  request_id: z.string().min(1).max(100).describe("`X-Request-Id` of an answer, `id` in a list of requests."),
});
