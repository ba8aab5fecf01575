// whisper.cpp's server (ggml-org/whisper.cpp examples/server, 0349811): where it takes audio depends on how it was started, and it
// answers OPTIONS at that path alone.
import { type Io, ProviderError, type WireRequest } from "./io.ts";

/** Of a server that was started without `--inference-path`. */
export const STOCK_PATH = "/inference";
const OPENAI_PATH = "/v1/audio/transcriptions";

export type InferencePlace = Pick<WireRequest, "path" | "withoutVersion">;

/** Whether `base_url` ends in `/v1` or not makes no difference, unless the server itself lies below `/v1` (`--request-path /v1`). */
const PLACES: readonly InferencePlace[] = [
  { path: STOCK_PATH, withoutVersion: true },
  { path: OPENAI_PATH, withoutVersion: true },
  { path: STOCK_PATH },
];
const STOCK = PLACES[0] ?? { path: STOCK_PATH };

const REMEMBERED = "whisper.cpp inference path";
const REMEMBERED_MS = 600_000;
const UNKNOWN_MS = 30_000;

/** Costs nothing: the server's one model is not asked. Null: at none of them, or something in between answers for the server. */
export async function findInferencePlace(io: Pick<Io, "send">): Promise<InferencePlace | null> {
  for (const place of PLACES) {
    const { status } = await io.send({ method: "OPTIONS", ...place, headers: {}, isFree: true });
    if (status >= 200 && status < 300) return place;
  }
  return null;
}

/** Looked for once in a while for each account. */
export async function inferencePlace(io: Pick<Io, "send" | "remember">): Promise<InferencePlace> {
  const found = await io.remember(REMEMBERED, async () => {
    const place = await findInferencePlace(io);
    return {
      value: String(place === null ? -1 : PLACES.indexOf(place)),
      forMs: place === null ? UNKNOWN_MS : REMEMBERED_MS,
    };
  });
  return PLACES[Number(found)] ?? STOCK;
}

export const forgetInferencePlace = (io: Pick<Io, "forget">): void => io.forget(REMEMBERED);

/** Every answer of it carries its name, a 404 too. */
export const isWhisperCpp = (headers: Readonly<Record<string, string>>): boolean => headers["server"] === "whisper.cpp";

/** What a 404 of the path itself is called, for those who set up the connection. */
export const NO_SUCH_PATH = "no_such_path_see_base_url_dialect_and_transcribe_path";

export function asNoSuchPath(error: unknown): unknown {
  // A server that knows the path and not the model says so with a code of its own.
  if (!(error instanceof ProviderError) || error.kind !== "not_found" || error.reason !== null) return error;
  return new ProviderError("not_found", { status: error.status ?? undefined, reason: NO_SUCH_PATH });
}
