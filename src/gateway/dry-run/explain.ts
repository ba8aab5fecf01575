// Answers `dry_run: true` for audio: checks everything up to the call; nothing is reserved, called or stored [routing.dry-run].
import type { AudioCall } from "../transcription/audio-call.ts";
import { judgedAudio } from "./judged-decision.ts";
import { decideWithChat } from "../translation/translate-by-chat.ts";
import { type GatewayReply, jsonReply } from "../reply.ts";
import type { GatewayServices } from "../services.ts";
import { type AudioRequest, withAudio } from "../transcription/with-audio.ts";

export async function explain(
  services: GatewayServices,
  call: AudioCall,
  request: AudioRequest,
): Promise<GatewayReply> {
  return withAudio(services, request, async ({ speech }) =>
    jsonReply(200, await judgedAudio(services, call, speech, decideWithChat(services, call, speech))),
  );
}
