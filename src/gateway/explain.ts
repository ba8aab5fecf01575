// `dry_run: true` (contract 3): judges everything up to the call; nothing is reserved, called or kept.
import { type AudioCall, decideFor, healthOf } from "./audio-call.ts";
import { describeDecision } from "./describe-decision.ts";
import { measureAudio } from "./measure-audio.ts";
import { type GatewayReply, jsonReply } from "./reply.ts";
import type { GatewayServices } from "./services.ts";

export async function explain(services: GatewayServices, call: AudioCall): Promise<GatewayReply> {
  const audio = await measureAudio(services, call);
  const decision = decideFor(services, call, audio.speech, healthOf(services));
  return jsonReply(
    200,
    describeDecision(services, call, audio.speech.durationSeconds, audio.speech.channels, decision),
  );
}
