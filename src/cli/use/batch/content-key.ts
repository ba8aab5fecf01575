// The idempotency key of a recording: the same for the same content and fields, so that a repeated command does not pay twice [cli.batch-again].
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { unreadable } from "../../read-argument.ts";
import type { AudioArgument } from "../audio-argument.ts";

interface Work {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export async function contentKey({ path, fields }: Work, audio: AudioArgument): Promise<string> {
  const hash = createHash("sha256");
  // Fields are in the order of the schema, whatever the order of the options.
  hash.update(JSON.stringify([path, fields, audio.kind === "url" ? audio.url : audio.sizeBytes]));
  if (audio.kind === "file") await hashFile(hash, audio.path);
  return `cli-${hash.digest("hex").slice(0, 48)}`;
}

async function hashFile(hash: Hash, path: string): Promise<void> {
  await pipeline(createReadStream(path), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) hash.update(chunk);
  }).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}
