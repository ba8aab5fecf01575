// The audio of a request, measured, wherever it comes from: remote audio is fetched first, and is gone when the work is done
// (spec 4.4; contract 1 step 4).
import type { AudioInput } from "../audio/audio-input.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { measureAudio, type MeasuredAudio } from "./measure-audio.ts";
import type { GatewayServices } from "./services.ts";

export interface AudioRequest {
  readonly audio: AudioInput;
  readonly workspaceId: WorkspaceId;
  readonly maxUrlBytes: number;
  /** Aborted when nobody wants the audio any more. */
  readonly signal: AbortSignal;
}

export async function withAudio<T>(
  services: Pick<GatewayServices, "measurer" | "limits" | "remoteAudio">,
  { audio, workspaceId, maxUrlBytes, signal }: AudioRequest,
  work: (audio: MeasuredAudio) => Promise<T>,
): Promise<T> {
  if (audio.kind === "spooled") return work(await measureAudio(services, { audio }));
  const { url, mediaTypeHint, fileNameHint } = audio;
  const fetched = await services.remoteAudio.download({ workspaceId, url, maxBytes: maxUrlBytes, signal });
  const { spooled, mediaType } = fetched;
  try {
    const input: AudioInput = {
      kind: "spooled",
      spooled,
      param: "audio.url",
      // A caller's word about its own audio is weighed before that of the server it lies on.
      mediaTypeHint: mediaTypeHint ?? mediaType,
      fileNameHint,
    };
    return await work(await measureAudio(services, { audio: input }));
  } finally {
    await spooled.dispose();
  }
}
