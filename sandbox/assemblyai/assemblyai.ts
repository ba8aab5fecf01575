// Simulates AssemblyAI's pre-recorded endpoints: upload, submit, poll, delete. Keeps uploads and transcripts until they are deleted, as the provider does
// [providers.sandbox-kept].
import { randomUUID } from "node:crypto";
import { assemblyAiTranscript, type Run } from "./assemblyai-reply.ts";
import { judgeSubmission, MAX_UPLOAD_BYTES } from "./assemblyai-rules.ts";
import type { AudioFacts } from "../wire/measure-audio.ts";
import {
  type Alteration,
  jsonAnswer,
  lastSegment,
  type Step,
  valueOf,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

interface Upload {
  readonly facts: AudioFacts;
  readonly key: string;
}

const UPLOADS = "https://cdn.assemblyai.com/upload/";
const MIN_SECONDS = 0.16;
const USUAL_LIMIT = 10;
const MOST_LISTED = 200;

export function assemblyAiWires(): Readonly<Record<"upload" | "submit" | "poll" | "remove" | "list", Wire>> {
  const uploads = new Map<string, Upload>();
  const runs = new Map<string, Run>();

  async function upload(input: WireInput): Promise<WireAnswer> {
    if (input.defect !== null) return assemblyAiError(413, "Uploaded file is too large.");
    if (input.bodyBytes === 0) return assemblyAiError(422, "Upload failed, please try again.");
    const url = `${UPLOADS}${randomUUID()}`;
    uploads.set(url, { facts: await input.measure(), key: keyOf(input) });
    return jsonAnswer(200, { upload_url: url });
  }

  async function submit(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
    const verdict = judgeSubmission(input.json, input.nowMs);
    if (!verdict.ok) return assemblyAiError(400, verdict.error);
    const { audioUrl } = verdict.asked;
    const uploaded = uploads.get(audioUrl);
    if (uploaded === undefined) return assemblyAiError(400, "The sandbox fetches nothing: upload the audio first.");
    if (uploaded.key !== keyOf(input)) return assemblyAiError(403, "Cannot access uploaded file");
    const { asked } = verdict;
    const { unfinishedPolls } = alteration;
    const run = {
      id: randomUUID(),
      key: uploaded.key,
      audioUrl,
      asked,
      facts: uploaded.facts,
      alteration,
      unfinishedPolls,
    };
    runs.set(run.id, run);
    return jsonAnswer(200, assemblyAiTranscript(run, "queued"));
  }

  async function poll(input: WireInput): Promise<WireAnswer> {
    const run = find(input);
    if (run === undefined) return unknownId;
    if (run.unfinishedPolls > 0) {
      run.unfinishedPolls -= 1;
      return jsonAnswer(200, assemblyAiTranscript(run, "processing"));
    }
    const error = runError(run);
    return jsonAnswer(200, {
      ...assemblyAiTranscript(run, error === null ? "completed" : "error"),
      ...(error === null ? {} : { error }),
    });
  }

  async function remove(input: WireInput): Promise<WireAnswer> {
    const run = find(input);
    if (run === undefined) return unknownId;
    // Not documented: a refusal is the case that a caller must handle.
    if (run.unfinishedPolls > 0) {
      run.unfinishedPolls -= 1;
      return assemblyAiError(400, "This transcript is still being processed.");
    }
    runs.delete(run.id);
    uploads.delete(run.audioUrl);
    const error = runError(run);
    return jsonAnswer(200, {
      ...assemblyAiTranscript(run, "completed"),
      ...(error === null ? {} : { status: "error", error }),
      text: null,
      words: null,
      utterances: null,
    });
  }

  function find({ path, headers }: Pick<WireInput, "path" | "headers">): Run | undefined {
    const run = runs.get(lastSegment(path));
    return run?.key === (headers.authorization ?? "") ? run : undefined;
  }

  const wire = (step: Step, body: Wire["body"], answer: Wire["answer"]): Wire => ({
    name: "assemblyai",
    step,
    body,
    maxBodyBytes: step === "upload" ? MAX_UPLOAD_BYTES : 10_000_000,
    errorFor: errorForStatus,
    answer: async (input, alteration) =>
      isAuthorized(keyOf(input)) ? answer(input, alteration) : assemblyAiError(401, UNAUTHORIZED),
    modelOf: ({ json, path }) => (step === "submit" ? modelIn(json) : (runs.get(lastSegment(path))?.asked.model ?? "")),
  });
  return {
    upload: wire("upload", "raw", upload),
    submit: wire("submit", "json", submit),
    poll: wire("poll", "none", poll),
    remove: wire("remove", "none", remove),
    list: wire("probe", "none", async (input) => listRuns(input, [...runs.values()])),
  };
}

/** Newest first. */
function listRuns(input: WireInput, runs: readonly Run[]): WireAnswer {
  const limit = Number(valueOf(input.query, "limit") ?? USUAL_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) return assemblyAiError(400, "Invalid limit");
  const origin = "https://api.assemblyai.com/v2/transcript";
  const ownRuns = runs.filter(({ key }) => key === keyOf(input)).toReversed();
  const transcripts = ownRuns.slice(0, limit).map((run) => ({
    id: run.id,
    resource_url: `${origin}/${run.id}`,
    created: "2026-11-20T00:00:00.000000",
    completed: null,
    audio_url: run.audioUrl,
    ...(run.unfinishedPolls > 0 ? { status: "processing", error: null } : finalStatus(run)),
  }));
  const current = `${origin}?limit=${limit}`;
  const pages = { limit, result_count: transcripts.length, current_url: current, prev_url: null, next_url: null };
  return jsonAnswer(200, { page_details: pages, transcripts });
}

function finalStatus(run: Run): object {
  const error = runError(run);
  return { status: error === null ? "completed" : "error", error };
}

/** Detected while the run is processed, and reported as its failure with status 200. */
function runError({ facts, alteration }: Run): string | null {
  if (alteration.runError !== null) return alteration.runError;
  if (!facts.ok && !facts.isTooShort)
    return "File does not appear to contain audio. File type is application/octet-stream";
  return !facts.ok || facts.durationSeconds < MIN_SECONDS ? "Audio duration is too short." : null;
}

const UNAUTHORIZED = "Authentication error, API token missing/invalid";
const unknownId = assemblyAiError(400, "Transcript lookup error, transcript id not found");

const MESSAGES: Readonly<Record<number, string>> = {
  400: "Your current account balance is negative. Please top up to continue using the API.",
  401: UNAUTHORIZED,
  403: "Cannot access uploaded file",
  404: "Not found",
  429: "Too Many Requests",
  500: "Server error, developers have been alerted.",
};

/** 503 and 504 have no JSON body. */
function errorForStatus(status: number): WireAnswer {
  if (status === 503 || status === 504) {
    return { status, headers: { "content-type": "text/html" }, body: "<html><body>Service Unavailable</body></html>" };
  }
  return assemblyAiError(status, MESSAGES[status] ?? "Server error, developers have been alerted.");
}

export function assemblyAiError(status: number, error: string): WireAnswer {
  return jsonAnswer(status, { error });
}

/** The key alone: with a scheme before it, it is an invalid key. */
function isAuthorized(key: string): boolean {
  return key !== "" && key !== "invalid" && !/\s/u.test(key);
}

const keyOf = ({ headers }: Pick<WireInput, "headers">): string => headers.authorization ?? "";

function modelIn(json: unknown): string {
  const models = typeof json === "object" && json !== null && "speech_models" in json ? json.speech_models : null;
  return Array.isArray(models) && typeof models[0] === "string" ? models[0] : "";
}
