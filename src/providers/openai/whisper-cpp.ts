// Finds the transcription endpoint of whisper.cpp's server (ggml-org/whisper.cpp examples/server, 0349811): its path depends on the server's start options, and
// only that path answers OPTIONS.
import { type Io, ProviderError, type WireRequest } from "../io.ts";

/** The path of a server started without `--inference-path`. */
export const STOCK_PATH = "/inference";
const OPENAI_PATH = "/v1/audio/transcriptions";

export type InferencePlace = Pick<WireRequest, "path" | "withoutVersion">;

/** A `/v1` at the end of `base_url` makes no difference, unless the server itself is below `/v1` (`--request-path /v1`). */
const PLACES: readonly InferencePlace[] = [
  { path: STOCK_PATH, withoutVersion: true },
  { path: OPENAI_PATH, withoutVersion: true },
  { path: STOCK_PATH },
];
const STOCK = PLACES[0] ?? { path: STOCK_PATH };

const REMEMBERED = "whisper.cpp inference path";
const REMEMBERED_MS = 600_000;
const UNKNOWN_MS = 30_000;

/** Free: the server's model is not called. Null: none of the paths, or a proxy answers for the server. */
export async function findInferencePlace(io: Pick<Io, "send">): Promise<InferencePlace | null> {
  for (const place of PLACES) {
    const { status } = await io.send({ method: "OPTIONS", ...place, headers: {}, isFree: true });
    if (status >= 200 && status < 300) return place;
  }
  return null;
}

/** Cached per account for a while. */
export async function inferencePlace(io: Pick<Io, "send" | "remember">): Promise<InferencePlace> {
  const index = await io.remember(REMEMBERED, async () => {
    const place = await findInferencePlace(io);
    return {
      value: String(place === null ? -1 : PLACES.indexOf(place)),
      forMs: place === null ? UNKNOWN_MS : REMEMBERED_MS,
    };
  });
  return PLACES[Number(index)] ?? STOCK;
}

export const forgetInferencePlace = (io: Pick<Io, "forget">): void => io.forget(REMEMBERED);

/** Every reply of it contains its name, even a 404. */
export const isWhisperCpp = (headers: Readonly<Record<string, string>>): boolean => headers["server"] === "whisper.cpp";

/** The error code for a 404 of the path itself, for those who configure the connection. */
export const NO_SUCH_PATH = "no_such_path_see_base_url_dialect_and_transcribe_path";

export function asNoSuchPath(error: unknown): unknown {
  // A server that has the path but not the model returns its own error code.
  if (!(error instanceof ProviderError) || error.kind !== "not_found" || error.reason !== null) return error;
  return new ProviderError("not_found", { status: error.status ?? undefined, reason: NO_SUCH_PATH });
}
