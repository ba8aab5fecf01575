// Calls of Google's speech API: a single request that contains the audio, or a batch with an upload to the operator's bucket, the billed submission, the polls
// and the deletion.
import { bufferedBody } from "../../lib/buffered-body.ts";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { GOOGLE_SPEECH_MODELS } from "./google-speech-models.ts";
import { forgetGoogleToken, googleAuthorization, readServiceAccount } from "./google-token.ts";
import { type FailureKind, type Io, ProviderError, type RemoteRun, type WireRequest } from "../io.ts";
import { type WireReply } from "../wire/wire-reply.ts";
import { jsonWithAudio } from "../wire/json-audio.ts";
import type { RawTranscript, RemotePoll, RemoteSpeech, SpeechAudio, SpeechPlan } from "../provider.ts";
import { providerFailure } from "../wire/provider-failure.ts";
import { parsedReply, readJsonReply, retryAfterSeconds, sizeOf } from "../wire/read-reply.ts";
import { nothingBegun, tagUnknownOutcome } from "../wire/run-remote.ts";

type JsonPlan = Extract<SpeechPlan, { kind: "json" }>;

/** The limits of a single request are the same for every model. They apply to a plan without a bucket. */
export function fitsRequest(plan: SpeechPlan, audio: SpeechAudio): boolean {
  if (plan.kind !== "json" || plan.path.endsWith(":batchRecognize")) return false;
  const { maxBytes = 0, maxSeconds = 0 } = GOOGLE_SPEECH_MODELS["long"]?.limits ?? {};
  return bucketIn(plan) === null || (audio.sizeBytes <= maxBytes && audio.durationSeconds <= maxSeconds);
}

export async function recognize(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  const { files: _files, recognitionOutputConfig: _output, ...body } = jsonPlan(plan).body;
  const reply = await sendToSpeech(io, {
    method: "POST",
    path: inProject(plan.path, io),
    headers: { "content-type": "application/json" },
    body: jsonWithAudio((content) => ({ ...body, content }), audio),
  });
  return readJsonReply(reply, io.credential);
}

export const googleSpeechRemote: RemoteSpeech = {
  takes: (plan) => bucketIn(jsonPlan(plan)) !== null,
  submit,
  poll,
  remove,
};

const accepted = z.object({ name: z.string().regex(/^projects\/[\w.:/-]{1,300}$/u) });

async function submit(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RemoteRun> {
  const { path, body } = jsonPlan(plan);
  const bucket = bucketIn(jsonPlan(plan));
  if (bucket === null) throw new TypeError("a batch needs a bucket");
  const object = `patchbay-${randomUUID()}`;
  await upload(bucket, object, audio, io);
  const submission = Buffer.from(JSON.stringify({ ...body, files: [{ uri: `gs://${bucket}/${object}` }] }));
  try {
    const reply = await sendToSpeech(io, {
      method: "POST",
      path: inProject(path, io).replace(/:recognize$/u, ":batchRecognize"),
      headers: { "content-type": "application/json" },
      body: bufferedBody(submission),
    });
    const parsed = accepted.safeParse(readJsonReply(reply, io.credential).body);
    if (!parsed.success) throw new ProviderError("bad_reply", { status: reply.status, reason: "missing_fields" });
    const operation = parsed.data.name;
    return { id: operation.split("/").at(-1) ?? operation, details: { operation, bucket, object } };
  } catch (error) {
    // A failed submission leaves no run that could remove the object later when it is deleted.
    await removeObject(bucket, object, io).catch(() => undefined);
    throw error;
  }
}

async function upload(bucket: string, object: string, audio: SpeechAudio, io: Io): Promise<void> {
  const request: WireRequest = {
    method: "POST",
    path: `/upload/storage/v1/b/${encodeURIComponent(bucket)}/o`,
    query: [
      ["uploadType", "media"],
      ["name", object],
    ],
    headers: { "content-type": audio.mediaType },
    body: { sizeBytes: audio.sizeBytes, open: audio.open },
    isFree: true,
  };
  try {
    readJsonReply(await sendToStorage(io, request), io.credential);
  } catch (error) {
    throw nothingBegun(error, "upload");
  }
}

const status = z.looseObject({ code: z.number().nullish() });
const operation = z.object({
  done: z.boolean().nullish(),
  metadata: z.object({ progressPercent: z.number().nullish() }).nullish(),
  error: status.nullish(),
  response: z
    .object({
      results: z.record(
        z.string(),
        z.object({
          error: status.nullish(),
          inlineResult: z.object({ transcript: z.object({ results: z.unknown().optional() }).nullish() }).nullish(),
          metadata: z.object({ totalBilledDuration: z.unknown().optional() }).nullish(),
        }),
      ),
    })
    .nullish(),
});

async function poll(run: RemoteRun, io: Io): Promise<RemotePoll> {
  const question: WireRequest = { method: "GET", path: operationPath(run), headers: {}, isFree: true };
  const reply = await sendToSpeech(io, question).catch((error: unknown) => {
    throw tagUnknownOutcome(error);
  });
  const answered = parsedReply(reply);
  const parsed = operation.safeParse(reply.status === 200 ? answered : undefined);
  if (!parsed.success) {
    throw new ProviderError("unknown", {
      status: reply.status,
      reason: "poll",
      retryAfterSeconds: retryAfterSeconds(reply.headers),
      provider: providerFailure(reply, answered, io.credential),
    });
  }
  const { done, metadata, error, response } = parsed.data;
  if (done !== true) return { done: false, retryAfterSeconds: null, fraction: (metadata?.progressPercent ?? 0) / 100 };
  const [file] = Object.values(response?.results ?? {});
  const failed = error ?? file?.error ?? null;
  if (failed !== null || file === undefined) {
    throw new ProviderError(kindOfCode(failed?.code ?? null), {
      status: 200,
      reason: "run_failed",
      provider: providerFailure(reply, { error: failed }, io.credential),
    });
  }
  const transcript = file.inlineResult?.transcript;
  const body = {
    results: transcript?.results ?? [],
    metadata: { requestId: run.id, totalBilledDuration: file.metadata?.totalBilledDuration },
  };
  return { done: true, raw: { body, headers: reply.headers, sizeBytes: sizeOf(reply) } };
}

/** Maps a `google.rpc.Code`. */
function kindOfCode(code: number | null): FailureKind {
  switch (code) {
    case 3:
    case 9:
    case 11:
      return "rejected";
    case 7:
    case 16:
      return "unauthorized";
    case 5:
      return "not_found";
    case 8:
      return "rate_limited";
    case null:
    default:
      return "server_error";
  }
}

/** Cancels a running operation, then deletes the audio and the operation, which contains the transcript. */
async function remove(run: RemoteRun, io: Io): Promise<void> {
  const { bucket, object } = run.details;
  const path = operationPath(run);
  await sendToSpeech(io, { method: "POST", path: `${path}:cancel`, headers: {}, isFree: true });
  if (typeof bucket === "string" && typeof object === "string") await removeObject(bucket, object, io);
  expectGone(await sendToSpeech(io, { method: "DELETE", path, headers: {}, isFree: true }));
}

async function removeObject(bucket: string, object: string, io: Io): Promise<void> {
  const path = `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(object)}`;
  expectGone(await sendToStorage(io, { method: "DELETE", path, headers: {}, isFree: true }));
}

/** Operations that cannot be deleted (501) expire by themselves. */
function expectGone({ status: code }: WireReply): void {
  if ((code >= 200 && code < 300) || code === 404 || code === 501) return;
  throw new ProviderError("server_error", { status: code, reason: "remove" });
}

function operationPath(run: RemoteRun): string {
  return `/v2/${String(run.details["operation"])}`;
}

function jsonPlan(plan: SpeechPlan): JsonPlan {
  if (plan.kind !== "json") throw new TypeError("Google's speech API takes JSON");
  return plan;
}

const files = z.tuple([z.object({ uri: z.string() })]);

function bucketIn(plan: JsonPlan): string | null {
  const uri = files.safeParse(plan.body["files"]).data?.[0].uri;
  return uri === undefined ? null : uri.slice("gs://".length).replace(/\/.*$/u, "");
}

/** A plain access token does not contain the project: it must be in the settings, and only the sandbox accepts a dash. */
export function inProject(path: string, io: Io): string {
  const account = io.credential === null ? null : readServiceAccount(io.credential);
  return path.replace("{project}", account?.project_id ?? "-");
}

/** Each location has its own host. */
export async function sendToSpeech(io: Io, request: WireRequest): Promise<WireReply> {
  const location = /\/locations\/([^/]+)/u.exec(request.path)?.[1] ?? "global";
  const host = location === "global" ? "speech" : `${location}-speech`;
  return sendAuthorized(io, { ...request, siblings: [{ domain: DOMAIN, origin: `https://${host}.${DOMAIN}` }] });
}

async function sendToStorage(io: Io, request: WireRequest): Promise<WireReply> {
  return sendAuthorized(io, { ...request, siblings: [{ domain: DOMAIN, origin: `https://storage.${DOMAIN}` }] });
}

const DOMAIN = "googleapis.com";

async function sendAuthorized(io: Io, request: WireRequest): Promise<WireReply> {
  const headers = { ...request.headers, ...(await googleAuthorization(io)) };
  const reply = await io.send({ ...request, headers });
  if (reply.status === 401) forgetGoogleToken(io);
  return reply;
}
