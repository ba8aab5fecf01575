// Details of a job that its row in the list has no room for.
import type { ListedJobView } from "../contract/admin/job-list.ts";
import type { JobStatus } from "../contract/jobs.ts";
import { copyButton, element } from "../page/element.ts";
import { factList, orNone, secondsText, timeView, type Tone } from "./words.ts";

export const JOB_TONES: Readonly<Record<JobStatus, Tone>> = {
  queued: "soft",
  processing: "busy",
  succeeded: "good",
  failed: "bad",
  cancelled: "warn",
};

type Fact = readonly [term: string, value: Node | string];

export function jobDetails(job: ListedJobView): HTMLElement {
  const { job_id: id, error } = job;
  return element(
    "details",
    { class: "wide" },
    element("summary", {}, element("code", {}, id)),
    element("p", { class: "bad" }, error === null ? "" : `${error.message}${againText(error.retryable)}`),
    factList(factsOf(job)),
    copyButton("Copy job ID", () => id),
  );
}

const againText = (isRetryable: boolean): string => (isRetryable ? " Submit it again to retry." : "");

/** Facts that do not apply are skipped. */
function factsOf(job: ListedJobView): readonly Fact[] {
  const purpose = purposeOf(job);
  const facts: (Fact | null)[] = [
    ["Started", timeView(job.started_at)],
    ["Ended", timeView(job.finished_at)],
    job.finished_at === null ? ["Deadline", timeView(job.deadline_at)] : null,
    job.expires_at === null || job.status !== "succeeded" ? null : ["Result until", timeView(job.expires_at)],
    ["Task", job.task],
    job.simulated ? ["Served by", job.finished_at === null ? SANDBOX_WILL : SANDBOX_DID] : null,
    ["Attempts", `${job.attempts}`],
    purpose === "–" ? null : ["Purpose", purpose],
    job.usage === null ? null : ["Billable", billableText(job.usage.billable_audio_seconds)],
    job.provider_deletion === "none" ? null : ["Provider", DELETIONS[job.provider_deletion]],
    ["App", element("code", {}, job.app)],
    job.key === null ? null : ["Key", element("code", {}, job.key)],
  ];
  return facts.filter((fact) => fact !== null);
}

const SANDBOX_DID = "sandbox (simulated)";
const SANDBOX_WILL = "sandbox (simulated), with the current route";

const billableText = (seconds: number): string => (seconds === 0 ? "nothing" : secondsText(seconds));

/** What a provider does with its copy of a recording. */
export const DELETIONS: Readonly<Record<Exclude<ListedJobView["provider_deletion"], "none">, string>> = {
  pending: "deletion requested",
  done: "copy deleted",
  failed: "deletion failed: the provider still has a copy",
};

function purposeOf({ svc_requested_purpose: requested, svc_applied_purpose: applied }: ListedJobView): string {
  return requested === applied ? orNone(applied) : `${orNone(requested)} → ${orNone(applied)}`;
}
