// What the tools take: the fields of the endpoints behind them, with the recording named as the tools' user can.
import { z } from "zod";
import { jobFields } from "../contract/jobs.ts";
import { transcriptionFields } from "../contract/transcription.ts";
import type { Recording } from "./tool-gateway.ts";

const url = z.string().max(8192).describe("https:// URL that the gateway fetches.");
const path = z.string().min(1).describe("Audio or video file on this machine.");

/** Over a network there is no file that both sides know. */
function withRecording(fields: z.ZodObject, readsFiles: boolean): z.ZodType<Recording> {
  if (!readsFiles) return fields.extend({ url });
  return fields
    .extend({ path: path.optional(), url: url.optional() })
    .refine((given) => (given.path === undefined) !== (given.url === undefined), "Give either `path` or `url`.");
}

/** How an answer is transported is no matter of the tool's caller. */
export const transcribeInput = (readsFiles: boolean) =>
  withRecording(transcriptionFields.omit({ mode: true, stream: true }), readsFiles);
export const submitInput = (readsFiles: boolean) => withRecording(jobFields, readsFiles);

export const jobInput = z.strictObject({ job_id: z.string().min(1).max(100) });
export const waitedJobInput = jobInput.extend({
  wait_seconds: z.int().min(0).max(60).describe("How long to wait for its end; 0 unless given.").optional(),
});
export const requestInput = z.strictObject({
  request_id: z.string().min(1).max(100).describe("`X-Request-Id` of an answer, `id` in a list of requests."),
});
