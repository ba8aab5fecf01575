// Reads one request body, spools its audio, and returns a defect instead of throwing.
import type { IncomingMessage } from "node:http";
import { boundaryOf, MalformedMultipart, type ReceivedFile, readMultipart } from "./multipart-reader.ts";
import { createSpool } from "./spool.ts";
import { type BodyDefect, type Pairs, parseJson, type Wire } from "./wire.ts";

export interface ReadBody {
  readonly fields: Pairs;
  readonly file: ReceivedFile | null;
  readonly json: unknown;
  readonly bodyBytes: number;
  readonly defect: BodyDefect | null;
}

class BodyTooLarge extends Error {}

export async function readBody(
  request: IncomingMessage,
  wire: Wire,
  onField: (name: string, value: string) => void,
): Promise<ReadBody> {
  const counter = { bytes: 0 };
  const chunks = limit(request, wire.maxBodyBytes, counter);
  const defective = (defect: BodyDefect): ReadBody => ({
    ...NOTHING,
    bodyBytes: counter.bytes,
    defect,
  });
  try {
    const content = await readAs(wire, chunks, request, onField);
    if (content !== null) return { ...NOTHING, ...content, bodyBytes: counter.bytes, defect: null };
    await drain(chunks);
    return defective("not_multipart");
  } catch (error) {
    if (error instanceof BodyTooLarge) return defective("too_large");
    if (!(error instanceof MalformedMultipart)) throw error;
    // The provider reads the rest: an answer during an unread body could be lost in a reset.
    await drain(chunks).catch(() => undefined);
    return defective("malformed_multipart");
  }
}

const NOTHING: Pick<ReadBody, "fields" | "file" | "json"> = { fields: [], file: null, json: undefined };

async function readAs(
  wire: Wire,
  chunks: AsyncIterable<Uint8Array>,
  request: IncomingMessage,
  onField: (name: string, value: string) => void,
): Promise<Partial<ReadBody> | null> {
  switch (wire.body) {
    case "raw":
      return { file: await readRaw(chunks, request.headers["content-type"] ?? "") };
    case "multipart":
      return readForm(chunks, request, onField);
    case "json":
      return readJson(chunks, wire);
    case "none":
      await drain(chunks);
      return {};
  }
}

const LONGEST_RECORDED = 4_096;

/** Its members are recorded like the fields of a form, and its audio like a file. */
async function readJson(chunks: AsyncIterable<Uint8Array>, wire: Wire): Promise<Partial<ReadBody>> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  const json = parseJson(Buffer.concat(pieces).toString("utf8"));
  if (json === undefined) return {};
  const fields = typeof json === "object" && json !== null ? Object.entries(json) : [];
  const audio = wire.audioOf?.(json) ?? null;
  return {
    json,
    fields: fields.map(([name, value]) => [name, JSON.stringify(value, shorten)] as const),
    ...(audio === null ? {} : { file: await readRaw([Buffer.from(audio.base64, "base64")], audio.contentType) }),
  };
}

function shorten(_name: string, value: unknown): unknown {
  return typeof value === "string" && value.length > LONGEST_RECORDED ? `… ${value.length} characters` : value;
}

async function readForm(
  chunks: AsyncIterable<Uint8Array>,
  request: IncomingMessage,
  onField: (name: string, value: string) => void,
) {
  const boundary = boundaryOf(request.headers["content-type"]);
  return boundary === null ? null : readMultipart(chunks, boundary, onField);
}

async function readRaw(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  contentType: string,
): Promise<ReceivedFile> {
  const spool = createSpool();
  try {
    for await (const chunk of chunks) await spool.write(chunk);
    return { fieldName: "", name: "", contentType, spooled: await spool.finish() };
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

/** Beyond the limit it continues reading without keeping anything, because the provider's message contains the size. */
async function* limit(
  request: IncomingMessage,
  maxBytes: number,
  counter: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!(chunk instanceof Uint8Array)) continue;
    counter.bytes += chunk.length;
    if (counter.bytes <= maxBytes) yield chunk;
  }
  if (counter.bytes > maxBytes) throw new BodyTooLarge();
}

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) continue;
}
