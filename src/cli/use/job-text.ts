// Formats a job's state, duration and next command for the terminal (`patchbay jobs`).
import type { Job } from "../../contract/jobs.ts";
import { formatFields } from "../print.ts";

export function describeJob(found: Job): string {
  const { error, usage, metadata } = found;
  const purpose = found.svc_requested_purpose;
  return formatFields([
    ["job", found.job_id],
    [
      "state",
      `${markedState(found)}${found.cancel_requested && found.status === "processing" ? ", cancel requested" : ""}`,
    ],
    ["error", error === null ? null : `${error.code}: ${error.message}`],
    ["created", found.created_at],
    ["started", found.started_at],
    ["finished", found.finished_at],
    ["result until", found.result_expired ? "deleted" : found.expires_at],
    ["audio", usage === null ? null : `${usage.audio_seconds} s, ${usage.billable_audio_seconds} s billable`],
    [
      "purpose",
      purpose === null ? null : `${purpose} -> ${found.svc_applied_purpose ?? "none"} (${found.svc_purpose_source})`,
    ],
    ["attempts", String(found.attempts)],
    ["deletion", found.provider_deletion === "none" ? null : found.provider_deletion],
    ...Object.entries(metadata).map(([name, text]) => [name, text] as const),
  ]);
}

export function nextOf({ job_id: id, status, result_expired: isGone }: Job): string {
  if (status === "queued" || status === "processing") return `patchbay jobs wait ${id}`;
  return status === "succeeded" && !isGone ? `patchbay jobs result ${id} --format srt` : "patchbay jobs submit FILE";
}

export function stateOf({ status, progress }: Job): string {
  if (status !== "processing") return status;
  const { stage, fraction } = progress;
  return `${stage}${fraction === null ? "" : ` ${Math.round(fraction * 100)} %`}`;
}

export function markedState(found: Job): string {
  return `${stateOf(found)}${found.simulated ? " (simulated)" : ""}`;
}

export function audioSeconds({ usage }: Job): string {
  return usage === null ? "-" : String(usage.audio_seconds);
}
