// Compares a file with the bytes and the SHA-256 that the manifest names.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { ModelFile } from "./model-spec.ts";
import { sizeOf } from "./model-store.ts";

const CHUNK_BYTES = 1_048_576;

/** Null: the same. Else what differs, as in "tokens.txt is missing". */
export async function differenceOf(
  path: string,
  expected: Pick<ModelFile, "bytes" | "sha256">,
  signal?: AbortSignal,
): Promise<string | null> {
  const size = await sizeOf(path);
  if (size === null) return "is missing";
  if (size !== expected.bytes) return `has ${size} bytes instead of ${expected.bytes}`;
  const sha256 = await sha256Of(path, signal);
  return sha256 === expected.sha256 ? null : `has the SHA-256 ${sha256} instead of ${expected.sha256}`;
}

export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const options = { highWaterMark: CHUNK_BYTES, ...(signal === undefined ? {} : { signal }) };
  for await (const chunk of createReadStream(path, options)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
