// Reads the JSON body of every endpoint that takes no audio (contract 1: 400, 413, 415).
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { type ErrorCode, GatewayError } from "../contract/errors.ts";
import { eachChunk } from "./body-chunks.ts";
import { createByteCollector } from "./byte-collector.ts";
import { declaredLength, readBodyType } from "./content-type.ts";
import { parseStrictJson } from "./strict-json.ts";

export interface JsonBodyOptions {
  readonly maxBytes: number;
  readonly code: Extract<ErrorCode, "BODY_TOO_LARGE" | "AUDIO_TOO_LARGE">;
}

/** Measured: lists of 2 million numbers, which fit into 4 MiB, take 0.2 s to walk and parse. */
const LIMITS = { maxDepth: 64, maxKeys: 10_000, maxElements: 100_000 };

/** The parsed value, whatever it is; the endpoint's schema judges it. */
export async function readJson(
  request: { readonly headers: IncomingHttpHeaders; readonly body: Readable },
  options: JsonBodyOptions,
): Promise<unknown> {
  readBodyType(request.headers, { multipart: false });
  const declared = declaredLength(request.headers);
  if (declared !== null && declared > options.maxBytes) throw tooLarge(options, declared);
  const collected = createByteCollector(options.maxBytes);
  let sizeBytes = 0;
  await eachChunk(request.body, (chunk) => {
    sizeBytes += chunk.length;
    if (!collected.add(chunk)) throw tooLarge(options, sizeBytes);
  });
  const parsed = parseStrictJson(collected.bytes(), LIMITS);
  if (parsed.ok) return parsed.value;
  throw new GatewayError("INVALID_REQUEST", {
    message: parsed.message,
    details: { issues: [{ param: null, message: parsed.message }] },
  });
}

function tooLarge(options: JsonBodyOptions, receivedBytes: number): GatewayError {
  return new GatewayError(options.code, {
    message: `The body is larger than the ${options.maxBytes} bytes this endpoint takes.`,
    details: { max_body_bytes: options.maxBytes, received_bytes: receivedBytes },
  });
}
