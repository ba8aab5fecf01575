// Writes a job as a response body. Its result is stored as JSON and is inserted without parsing.
import { simulatedMark } from "../../gateway/transcription/delivery.ts";
import type { JobView } from "../../jobs/read/describe-job.ts";
import type { Reply } from "../server/endpoint.ts";
import type { ServerEvent } from "./sse.ts";

/** Occurs exactly once, because quotation marks inside strings are escaped, and a client's `metadata` contains only strings. */
const RESULT = '"result":null,"result_url":';
const CONTENT_TYPE = "application/json; charset=utf-8";
/** Smaller results are sent as one text together with their head. */
const LARGE_BYTES = 64 * 1024;

export function jobReply(view: JobView): Reply {
  const { job, envelope } = view;
  if (envelope === null) return { status: 200, body: { json: job } };
  const headers = simulatedMark(job.simulated);
  const { before, after } = splitAtResult(view);
  const body =
    envelope.length <= LARGE_BYTES
      ? { text: `${before}${envelope.toString("utf8")}${after}`, contentType: CONTENT_TYPE }
      : { pieces: [Buffer.from(before), envelope, Buffer.from(after)], contentType: CONTENT_TYPE };
  return { status: 200, headers, body };
}

export function jobEvent(view: JobView): ServerEvent {
  const { job, envelope } = view;
  if (envelope === null) return { event: "job", data: job };
  const { before, after } = splitAtResult(view);
  return { event: "job", data: `${before}${envelope.toString("utf8")}${after}` };
}

function splitAtResult({ job }: JobView): { readonly before: string; readonly after: string } {
  const text = JSON.stringify(job);
  const at = text.indexOf(RESULT);
  if (at < 0) throw new Error("a job without the place of its result");
  const from = at + '"result":'.length;
  return { before: text.slice(0, from), after: text.slice(from + "null".length) };
}
