// Converts a succeeded job's stored result to another format, at no cost [jobs.export].
import { toPlainText } from "../../captions/plain-text.ts";
import { GatewayError } from "../../contract/errors.ts";
import { brand, type WorkspaceId } from "../../contract/ids.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { ExportFormat } from "../../contract/jobs.ts";
import { DELIVERY_TYPES, factsOf, markOf } from "../../gateway/transcription/delivery.ts";
import { type GatewayReply, textReply, transcriptReply } from "../../gateway/reply.ts";
import { type JobOwner, readJobOfWorkspace } from "../store/jobs.ts";
import { awaitEnd, type PollOptions } from "./read-job.ts";
import { loadEnvelope, withResult } from "./load-result.ts";
import { type JobResult } from "../run/store-result.ts";
import type { JobServices } from "../services.ts";

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly waiting: PollOptions;
}

export async function exportJob(
  services: JobServices,
  owner: JobOwner,
  id: string,
  { format, waiting }: ExportRequest,
): Promise<GatewayReply> {
  return awaitEnd(services, owner, id, waiting, async (row) => {
    const reply = await withResult(services, row, waiting.room, (result) =>
      exportReply(services, row.workspace_id, result, format),
    );
    if (reply === null) throw noResult("The job has no result: it has not succeeded, or its result has expired.");
    return reply;
  });
}

export interface SignedResult {
  readonly envelope: Buffer;
  readonly simulated: boolean;
}

/** Returns the result behind a signed URL (`GET /v1/transcription/results/{token}`). */
export async function fetchSignedResult(services: JobServices, token: string, room: AnswerRoom): Promise<SignedResult> {
  const claim = services.tokens.verify(token, { method: "GET", now: services.gateway.now() });
  const notFound = () => noResult("This URL is invalid or has expired. Poll the job for a new one.");
  if (claim === null) throw notFound();
  const row = await readSigned(services, brand("workspace", claim.workspaceId), claim.jobId);
  if (row === null) throw notFound();
  const envelope = await loadEnvelope(services, row, room);
  if (envelope === null) throw notFound();
  return { envelope, simulated: row.simulated };
}

function readSigned({ database }: JobServices, workspaceId: WorkspaceId, jobId: string) {
  return database.inWorkspace(workspaceId, (tx) => readJobOfWorkspace(tx, workspaceId, jobId));
}

async function exportReply(
  { gateway }: JobServices,
  owner: string,
  { envelope, kept }: JobResult,
  format: ExportFormat,
): Promise<GatewayReply> {
  const { content, segments, words } = kept;
  const facts = { ...markOf(envelope), ...factsOf(envelope) };
  if (format === "text") return textReply(DELIVERY_TYPES.text, toPlainText(content, segments), facts);
  if (segments.length === 0 && content !== "") {
    throw new GatewayError("REQUIRED_FEATURE_UNSUPPORTED", {
      message: `The model that served this job returned no timestamps, so there is no ${format} of it.`,
      param: "format",
      details: { missing: ["timestamps.segment"] },
    });
  }
  if (format === "verbose_json") return transcriptReply({ ...envelope, content, segments }, markOf(envelope));
  const durationSeconds = envelope.duration_seconds;
  const captions = await gateway.transcripts.caption(owner, { format, segments, words, durationSeconds });
  return textReply(DELIVERY_TYPES[format], captions, facts);
}

function noResult(message: string): GatewayError {
  return new GatewayError("NOT_FOUND", { message });
}
