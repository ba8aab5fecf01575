// The list of jobs for administrators and the operator: running jobs, outcomes, and routing.
import type { ListedJobView } from "../contract/admin/job-list.ts";
import { element } from "../page/element.ts";
import { type Filter, filterView, filtersIn } from "./filter-view.ts";
import { JOB_TONES, jobDetails } from "./job-details.ts";
import { liveList } from "./live-list.ts";
import { namedFilter, type Names, namesAt, NO_NAMES } from "./names.ts";
import type { Visit } from "./visit.ts";
import { breakable, link, mark, secondsText, timeView } from "./words.ts";

/** Filter by workspace in the shared scope, which has no list of all apps; by app in a workspace. */
interface Owners {
  readonly apps: Names;
  readonly workspaces: Names | null;
}

export async function showJobs(visit: Visit): Promise<readonly Node[]> {
  const isPlatform = visit.scope.workspace === null;
  const names = await namesAt(visit, isPlatform ? "/workspaces" : "/apps");
  const owners: Owners = isPlatform ? { apps: NO_NAMES, workspaces: names } : { apps: names, workspaces: null };
  const filters = filtersOf(owners);
  const query = filtersIn(visit, filters);
  const list = await liveList<ListedJobView>(visit, {
    caption: "Jobs, newest first, each for 30 days after its end",
    path: `/jobs?${query}`,
    heads: [
      "State",
      "Job",
      isPlatform ? "Workspace" : "App",
      "Submitted",
      "Waited",
      "Worked",
      "Audio",
      "Result",
      "Request",
    ],
    row: (job) => rowOf(visit, owners, job),
    empty:
      query === ""
        ? "No jobs yet. Apps submit jobs with POST /v1/transcription/jobs and a key with the scope jobs."
        : "No jobs match these filters.",
    keyOf: ({ job_id: id }) => id,
    stateOf: ({ status }) => status,
    isMoving: ({ finished_at: finished }) => finished === null,
    noun: ["job", "jobs"],
  });
  return [filterView(visit, filters), list.view];
}

function filtersOf({ apps, workspaces }: Owners): readonly Filter[] {
  return [
    {
      name: "status",
      label: "State",
      kind: "select",
      choices: [["", "any"], ...Object.keys(JOB_TONES).map((status) => [status, status] as const)],
    },
    ...(workspaces === null ? [] : [namedFilter("workspace", "Workspace", workspaces)]),
    namedFilter("app", "App", apps),
    { name: "job", label: "Job id", kind: "text", placeholder: "job_…" },
  ];
}

function rowOf(visit: Visit, { apps, workspaces }: Owners, job: ListedJobView): readonly (Node | string)[] {
  const { created_at: submitted, started_at: started, finished_at: finished } = job;
  return [
    stateOf(job),
    jobDetails(job),
    workspaces === null ? apps.of(job.app) : workspaces.of(job.workspace),
    timeView(submitted),
    lasted(submitted, started ?? finished),
    started === null ? "–" : lasted(started, finished),
    job.usage === null ? "–" : secondsText(job.usage.audio_seconds),
    resultOf(job),
    link(visit.link("requests", [job.request_id]), "Trace"),
  ];
}

function stateOf({
  status,
  progress,
  simulated: isSimulated,
  cancel_requested: isCancelled,
  error,
}: ListedJobView): HTMLElement {
  const box = element("div", {}, mark(JOB_TONES[status], status));
  const { stage, fraction } = progress;
  const soft = (text: string): void => box.append(element("span", { class: "soft" }, text));
  if (isSimulated) box.append(" ", element("span", { class: "tag" }, "simulated"));
  if (status === "processing") soft(fraction === null ? stage : `${stage}, ${Math.round(fraction * 100)} %`);
  if (isCancelled && status === "processing") soft("cancel requested");
  if (error !== null) box.append(element("div", {}, link(`/docs/errors#${error.code}`, ...breakable(error.code))));
  return box;
}

/** Until now if it has not ended. */
function lasted(from: string, to: string | null): string {
  const seconds = Math.max(0, (to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1000;
  return to === null ? `${secondsText(Math.ceil(seconds))} so far` : secondsText(seconds);
}

/** How long the result remains available. */
function resultOf({ status, result_expired: isDeleted, expires_at: until }: ListedJobView): Node | string {
  if (isDeleted) return "deleted";
  if (status !== "succeeded" || until === null) return "–";
  const secondsLeft = Math.max(0, Date.parse(until) - Date.now()) / 1000;
  return element("time", { datetime: until, title: until }, `for ${secondsText(Math.ceil(secondsLeft))}`);
}
