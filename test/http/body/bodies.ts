// Builds request bodies byte by byte, good and bad, and a spool that must be empty afterwards.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { openSpool, type Spool } from "../../../src/audio/spool.ts";
import { type ErrorCode, GatewayError } from "../../../src/contract/errors.ts";
import { transcriptionFields } from "../../../src/contract/transcription/transcription-fields.ts";
import { readSubmission, type Submission, type SubmissionRequest } from "../../../src/http/body/read-audio.ts";

export const BOUNDARY = "----form-7MA4YWxkTrZu0gW";

export interface Part {
  readonly name?: string;
  readonly fileName?: string;
  readonly type?: string;
  /** Replaces the whole header block. */
  readonly headers?: string;
  readonly value: string | Uint8Array;
}

export function form(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer {
  const pieces = parts.flatMap((part) => {
    const fileName = part.fileName === undefined ? "" : `; filename="${part.fileName}"`;
    const type = part.type === undefined ? "" : `\r\nContent-Type: ${part.type}`;
    const headers = part.headers ?? `Content-Disposition: form-data; name="${part.name}"${fileName}${type}`;
    return [Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(part.value), Buffer.from("\r\n")];
  });
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

export const file = (value: string | Uint8Array, fileName = "a.wav", type = "audio/wav"): Part => ({
  name: "file",
  fileName,
  type,
  value,
});
export const field = (name: string, value: string): Part => ({ name, value });

export function formRequest(
  body: Buffer | Iterable<Buffer>,
  contentType = `multipart/form-data; boundary=${BOUNDARY}`,
): SubmissionRequest {
  return request(body, { "content-type": contentType });
}

export function jsonRequest(body: unknown, contentType = "application/json"): SubmissionRequest {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return request(bytes, { "content-type": contentType });
}

export function request(
  body: Buffer | Iterable<Buffer>,
  headers: Record<string, string>,
  query = {},
): SubmissionRequest {
  return { headers, body: Readable.from(Buffer.isBuffer(body) ? [body] : body, { objectMode: false }), query };
}

/** Each in memory of its own, as Node hands them out: what is kept of one that was taken is missed. */
export function cut(bytes: Buffer, sizes: number | readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = typeof sizes === "number" ? sizes : (sizes[turn % sizes.length] ?? 1);
    chunks.push(Buffer.from(Uint8Array.from(bytes.subarray(at, at + size)).buffer));
    at += size;
  }
  return chunks;
}

export interface Bench {
  readonly spool: Spool;
  readonly directory: string;
  read(request: SubmissionRequest, maxAudioBytes?: number): Promise<Submission>;
  /** Refused with this code, and nothing left behind. */
  refuses(request: SubmissionRequest, code: ErrorCode, maxAudioBytes?: number): Promise<GatewayError>;
  isEmpty(): Promise<void>;
}

export async function openBench(t: Pick<TestContext, "after">, memoryLimitBytes = 1_000): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), "patchbay-body-"));
  const spool = await openSpool({ directory, memoryLimitBytes });
  t.after(async () => {
    await spool.close();
    await rm(directory, { recursive: true });
  });
  const bench: Bench = {
    spool,
    directory,
    read: (wanted, maxAudioBytes = 1_000_000) => readSubmission(transcriptionFields, wanted, { spool, maxAudioBytes }),
    async refuses(wanted, code, maxAudioBytes) {
      const error = await bench.read(wanted, maxAudioBytes).then(
        (submission) => assert.fail(`accepted: ${JSON.stringify(submission.fields)}`),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof GatewayError, String(error instanceof Error ? error.stack : error));
      assert.equal(error.code, code, error.message);
      await bench.isEmpty();
      return error;
    },
    async isEmpty() {
      assert.deepEqual(await readdir(directory), []);
      assert.equal(spool.bytesInFlight, 0);
    },
  };
  return bench;
}

/** The audio bytes of a submission, which is then disposed. */
export async function audioOf(submission: Submission): Promise<Buffer> {
  assert.equal(submission.audio.kind, "spooled");
  if (submission.audio.kind !== "spooled") throw new Error("unreachable");
  const chunks: Uint8Array[] = [];
  for await (const chunk of submission.audio.spooled.open()) chunks.push(chunk);
  await submission.audio.spooled.dispose();
  return Buffer.concat(chunks);
}
