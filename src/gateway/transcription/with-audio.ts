// Provides the measured audio of a request from any source. Remote audio is downloaded first, and deleted when the work is done.
import type { AudioInput } from "../../audio/audio-input.ts";
import type { QuotaHolders } from "../../quotas/quotas.ts";
import { measureAudio, type MeasuredAudio } from "./measure-audio.ts";
import type { GatewayServices } from "../services.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

export interface AudioRequest {
  readonly audio: AudioInput;
  readonly holders: QuotaHolders;
  readonly maxUrlBytes: number;
  /** Aborted when the audio is no longer needed. */
  readonly signal: AbortSignal;
}

/** `release` deletes what was downloaded. The endpoint deletes what the caller uploaded. */
export interface TakenAudio extends MeasuredAudio {
  readonly release: () => Promise<void>;
}

type Services = Pick<GatewayServices, "measurer" | "limits" | "remoteAudio" | "quotas">;

export async function withAudio<T>(
  services: Services,
  request: AudioRequest,
  work: (audio: MeasuredAudio) => Promise<T>,
): Promise<T> {
  const audio = await takeAudio(services, request);
  try {
    return await work(audio);
  } finally {
    await audio.release();
  }
}

export async function takeAudio(services: Services, request: AudioRequest): Promise<TakenAudio> {
  const { audio, holders, maxUrlBytes, signal } = request;
  const workspaceId = holders.workspace.id;
  const measure = (input: AudioInput) => measureAudio(services, { audio: input, workspaceId, signal });
  if (audio.kind === "spooled") return { ...(await measure(audio)), release: async () => undefined };
  const { url, mediaTypeHint, fileNameHint } = audio;
  await mapDatabaseUnavailable(services.quotas.takeUrlFetch(holders));
  const fetched = await services.remoteAudio.download({ workspaceId, url, maxBytes: maxUrlBytes, signal });
  const { spooled, mediaType } = fetched;
  const release = (): Promise<void> => spooled.dispose();
  const input: AudioInput = {
    kind: "spooled",
    spooled,
    param: "audio.url",
    // The caller's declaration takes precedence over that of the remote server.
    mediaTypeHint: mediaTypeHint ?? mediaType,
    fileNameHint,
  };
  try {
    return { ...(await measure(input)), release };
  } catch (error) {
    await release();
    throw error;
  }
}
