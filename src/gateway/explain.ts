// `dry_run: true` (contract 3): judges everything up to the call; nothing is reserved, called or kept.
import type { AudioCall } from "./audio-call.ts";
import { describeDecision } from "./describe-decision.ts";
import { judgeAudioCost } from "./judge-cost.ts";
import { decideWithChat, expectedChat } from "./translate-by-chat.ts";
import { type GatewayReply, jsonReply } from "./reply.ts";
import type { GatewayServices } from "./services.ts";
import { type AudioRequest, withAudio } from "./with-audio.ts";

export async function explain(
  services: GatewayServices,
  call: AudioCall,
  request: AudioRequest,
): Promise<GatewayReply> {
  return withAudio(services, request, async ({ speech }) => {
    const decided = decideWithChat(services, call, speech);
    const { durationSeconds, channels } = speech;
    const described = describeDecision(services, call, durationSeconds, channels, decided);
    const first = decided.decision.ok ? decided.decision.candidates[0] : undefined;
    const { byChat } = decided;
    const refused =
      first === undefined
        ? null
        : await judgeAudioCost(services, call.principal, {
            target: first.target,
            audioSeconds: durationSeconds,
            channels,
            chat: byChat === null ? null : expectedChat(call, byChat, durationSeconds),
          });
    return jsonReply(200, refused === null ? described : { ...described, outcome: refused });
  });
}
