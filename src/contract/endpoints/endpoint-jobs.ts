// Declares the endpoints of transcription jobs: submit, poll, list, cancel, and fetch a result by its token.
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";
import { formAudio, routedHeaders } from "./endpoint-transcription.ts";
import { SIMULATED } from "./response-names.ts";
import { acceptedJob, job, jobFields, jobList, jobListQuery, jobQuery, jobRequest } from "../jobs.ts";
import { routingDecision, transcriptionEnvelope } from "../transcription/transcription-envelope.ts";

const PATH = "/v1/transcription/jobs";

export const jobForm = jobFields.extend(formAudio);
export const jobOrResult = z.union([job, transcriptionEnvelope]);

export const postJobContract: EndpointContract = {
  method: "POST",
  path: PATH,
  operationId: "createTranscriptionJob",
  summary: "Transcribe a long recording as a durable job",
  description:
    "Answers as soon as the job and its audio are stored durably. Purpose and route are fixed at submission. The job survives restarts of the gateway and is never sent again to a provider that may have accepted it. Poll it, stream it, or configure the completion webhook.",
  auth: "key",
  scope: "jobs",
  isRouted: true,
  requestBody: { json: jobRequest, multipart: jobForm },
  headers: routedHeaders,
  responses: {
    200: {
      description: "With `dry_run`, the routing decision.",
      content: { "application/json": routingDecision },
    },
    202: acceptedJob,
  },
  errors: [
    "ROUTE_CONTROL_FIELD_REJECTED",
    "AUDIO_URL_REJECTED",
    "BUDGET_EXCEEDED",
    "CREDITS_REQUIRED",
    "IDEMPOTENCY_KEY_REUSED",
    "IDEMPOTENCY_REPLAY_IN_PROGRESS",
    "AUDIO_TOO_LARGE",
    "INVALID_AUDIO",
    "AUDIO_TOO_LONG",
    "REQUIRED_FEATURE_UNSUPPORTED",
    "RATE_LIMITED",
    "CONCURRENCY_LIMITED",
    "audio_purpose_unavailable",
    "NO_HEALTHY_PROVIDER",
    "OVERLOADED",
    "SHUTTING_DOWN",
  ],
};

export const getJobContract: EndpointContract = {
  method: "GET",
  path: `${PATH}/:job_id`,
  operationId: "getTranscriptionJob",
  summary: "Get a job",
  description:
    "`wait` holds the answer until the job has ended or the time is up. `Accept: text/event-stream` sends a `job` event at every change until the job has ended. `format` converts the result of a succeeded job.",
  auth: "key",
  scope: "jobs",
  query: jobQuery,
  responses: {
    200: {
      description: "The job, or with `format` its result.",
      content: {
        "application/json": jobOrResult,
        "text/event-stream": z.string(),
        "text/plain": z.string(),
        "application/x-subrip": z.string(),
        "text/vtt": z.string(),
      },
      headers: SIMULATED,
    },
  },
  errors: ["JOB_NOT_FOUND", "NOT_FOUND", "NOT_ACCEPTABLE", "REQUIRED_FEATURE_UNSUPPORTED"],
};

export const listJobsContract: EndpointContract = {
  method: "GET",
  path: PATH,
  operationId: "listTranscriptionJobs",
  summary: "List the app's jobs, newest first",
  description: "Results are omitted; get a job for its result.",
  auth: "key",
  scope: "jobs",
  query: jobListQuery,
  responses: { 200: { description: "A page of jobs.", content: { "application/json": jobList } } },
  errors: [],
};

export const deleteJobContract: EndpointContract = {
  method: "DELETE",
  path: `${PATH}/:job_id`,
  operationId: "cancelTranscriptionJob",
  summary: "Cancel a job",
  description:
    "A queued job is cancelled at once. A running one is cancelled between two of its stages; work that a provider has already accepted is charged. An ended job does not change, and the answer reports how it ended.",
  auth: "key",
  scope: "jobs",
  responses: { 200: { description: "The job in its current state.", content: { "application/json": job } } },
  errors: ["JOB_NOT_FOUND"],
};

export const getJobResultContract: EndpointContract = {
  method: "GET",
  path: "/v1/transcription/results/:token",
  operationId: "getTranscriptionJobResult",
  summary: "Download a large result by its signed address",
  description:
    "The token is the credential: it allows reading one job's result for a short time. Poll the job for a fresh one.",
  auth: "none",
  responses: {
    200: {
      description: "The transcript.",
      content: { "application/json": transcriptionEnvelope },
      headers: SIMULATED,
    },
  },
  errors: ["NOT_FOUND"],
};

export const JOB_ENDPOINTS: readonly EndpointContract[] = [
  postJobContract,
  listJobsContract,
  getJobContract,
  deleteJobContract,
  getJobResultContract,
];
