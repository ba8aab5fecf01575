// Runs of AssemblyAI's pre-recorded API: the free upload, the billed submission, the polls, the deletion (assemblyai.com/docs/api-reference, checked
// 2026-11-20).
import { bufferedBody } from "../../lib/buffered-body.ts";
import { z } from "zod";
import { accountProbe, withoutModels } from "../account-probe.ts";
import { asKind, type FailureKind, type Io, ProviderError, type RemoteRun, type WireRequest } from "../io.ts";
import { type WireReply } from "../wire/wire-reply.ts";
import type { RemotePoll, RemoteSpeech, SpeechAudio, SpeechPlan } from "../provider.ts";
import { providerFailure } from "../wire/provider-failure.ts";
import { failedReply, parsedReply, readJsonReply, retryAfterSeconds, sizeOf } from "../wire/read-reply.ts";
import { nothingBegun, tagUnknownOutcome } from "../wire/run-remote.ts";

export const assemblyaiRemote: RemoteSpeech = { submit, poll, remove };

const uploaded = z.object({ upload_url: z.string().min(1) });
const accepted = z.object({ id: z.string().regex(/^[\w-]{1,128}$/u) });

async function submit(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RemoteRun> {
  if (plan.kind !== "json") throw new TypeError("AssemblyAI takes a submission in JSON");
  const url = await upload(plan.path, audio, io);
  const submission = Buffer.from(JSON.stringify({ audio_url: url, ...plan.body }));
  const reply = await io.send({
    method: "POST",
    path: plan.path,
    headers: { ...authorization(io.credential), "content-type": "application/json" },
    body: bufferedBody(submission),
  });
  if (isOutOfFunds(reply)) throw asKind(failedReply(reply, io.credential), "payment");
  const parsed = accepted.safeParse(readJsonReply(reply, io.credential).body);
  if (!parsed.success) throw new ProviderError("bad_reply", { status: reply.status, reason: "missing_fields" });
  return { id: parsed.data.id, details: { path: plan.path } };
}

/** An upload alone starts no work. */
async function upload(path: string, audio: SpeechAudio, io: Io): Promise<string> {
  const request: WireRequest = {
    method: "POST",
    path: path.replace(/transcript$/u, "upload"),
    headers: { ...authorization(io.credential), "content-type": "application/octet-stream" },
    body: { sizeBytes: audio.sizeBytes, open: audio.open },
    isFree: true,
  };
  try {
    const reply = await io.send(request);
    const parsed = uploaded.safeParse(readJsonReply(reply, io.credential).body);
    if (!parsed.success) throw new ProviderError("bad_reply", { status: reply.status, reason: "missing_fields" });
    return parsed.data.upload_url;
  } catch (error) {
    throw nothingBegun(error, "upload");
  }
}

/** A 400 with prose and no error code. */
function isOutOfFunds(reply: WireReply): boolean {
  return reply.status === 400 && /\b(account balance|insufficient funds)\b/iu.test(reply.text);
}

const state = z.object({
  status: z.enum(["queued", "processing", "completed", "error"]),
  error: z.string().nullish(),
});

async function poll(run: RemoteRun, io: Io): Promise<RemotePoll> {
  const reply = await sendAbout(run, "GET", io);
  const body = parsedReply(reply);
  const parsed = state.safeParse(reply.status === 200 ? body : undefined);
  if (!parsed.success) {
    throw new ProviderError("unknown", {
      status: reply.status,
      reason: "poll",
      retryAfterSeconds: retryAfterSeconds(reply.headers),
      provider: providerFailure(reply, body, io.credential),
    });
  }
  const { status, error } = parsed.data;
  if (status === "error") {
    const provider = providerFailure(reply, body, io.credential);
    throw new ProviderError(failureOf(error ?? ""), { status: 200, reason: "run_failed", provider });
  }
  return status === "completed"
    ? { done: true, raw: { body, headers: reply.headers, sizeBytes: sizeOf(reply) } }
    : { done: false, retryAfterSeconds: null, fraction: null };
}

/** The reasons are prose. Those that blame the audio are faults of the input, the rest of the provider. */
function failureOf(error: string): FailureKind {
  const blamesAudio =
    /too short|too long|does not appear to contain audio|no spoken audio|file type|unsupported|corrupt/iu;
  return blamesAudio.test(error) ? "rejected" : "server_error";
}

/** Deleting the transcript deletes the uploaded file. */
async function remove(run: RemoteRun, io: Io): Promise<void> {
  const reply = await sendAbout(run, "DELETE", io);
  const isSuccess = reply.status >= 200 && reply.status < 300;
  // A failed run also returns its transcript, with its error. Another body, for example a proxy's page, proves nothing.
  if (isSuccess && (reply.text === "" || accepted.safeParse(parsedReply(reply)).success)) return;
  if (reply.status === 404) return;
  // An unknown id is a 400 there, not a 404.
  if (reply.status === 400 && /not found/iu.test(reply.text)) return;
  throw failedReply(reply, io.credential);
}

async function sendAbout(run: RemoteRun, method: "GET" | "DELETE", io: Io): Promise<WireReply> {
  const { path } = run.details;
  const request: WireRequest = {
    method,
    path: `${typeof path === "string" ? path : "/v2/transcript"}/${encodeURIComponent(run.id)}`,
    headers: authorization(io.credential),
    isFree: true,
  };
  try {
    return await io.send(request);
  } catch (error) {
    throw tagUnknownOutcome(error);
  }
}

/** The key alone, without an authorization scheme. */
function authorization(credential: string | null): Readonly<Record<string, string>> {
  return credential === null ? {} : { authorization: credential };
}

/** The newest entry of the account's transcript list, which may be empty. */
export const assemblyaiProbe = accountProbe({
  path: "/v2/transcript",
  query: [["limit", "1"]],
  headers: authorization,
  listsModels: false,
  read: withoutModels(z.object({ transcripts: z.array(z.unknown()) })),
});
