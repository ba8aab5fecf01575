// The job endpoints as callers see them.
import { z } from "zod";
import type { EndpointContract } from "./endpoint.ts";
import { formAudio, routedHeaders } from "./endpoint-transcription.ts";
import { acceptedJob, job, jobFields, jobList, jobListQuery, jobQuery, jobRequest } from "./jobs.ts";
import { routingDecision, transcriptionEnvelope } from "./transcription.ts";

const PATH = "/v1/transcription/jobs";
const SIMULATED = { "X-SVC-Simulated": "`true` when the sandbox answered." };

export const postJobContract: EndpointContract = {
  method: "POST",
  path: PATH,
  operationId: "createTranscriptionJob",
  summary: "Transcribe a long recording as a durable job",
  description:
    "Answers as soon as the job and its audio are durable. Purpose and route are fixed now; the job survives restarts of the gateway and is never sent twice to a provider that may have taken it. Poll it, stream it, or configure the completion webhook.",
  auth: "key",
  scope: "jobs",
  isRouted: true,
  requestBody: { json: jobRequest, multipart: jobFields.extend(formAudio) },
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
  summary: "Poll a job",
  description:
    "`wait` holds the answer back until the job has ended or the time is up. `Accept: text/event-stream` sends a `job` event at every change until it has ended. `format` re-exports the result of a succeeded job.",
  auth: "key",
  scope: "jobs",
  query: jobQuery,
  responses: {
    200: {
      description: "The job, or with `format` its result.",
      content: {
        "application/json": z.union([job, transcriptionEnvelope]),
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
  summary: "The app's jobs, newest first",
  description: "Results are left out; fetch a job to get its result.",
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
    "A queued job is cancelled at once. One that is worked on is cancelled between two of its stages; what a provider has taken by then is charged as run. A job that has ended stays as it is, and the answer says how it ended.",
  auth: "key",
  scope: "jobs",
  responses: { 200: { description: "The job as it is now.", content: { "application/json": job } } },
  errors: ["JOB_NOT_FOUND"],
};

export const getJobResultContract: EndpointContract = {
  method: "GET",
  path: "/v1/transcription/results/:token",
  operationId: "getTranscriptionJobResult",
  summary: "Fetch a large result by its signed address",
  description:
    "The token is the credential: it opens one job's result for a short while. Poll the job for a fresh one.",
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
