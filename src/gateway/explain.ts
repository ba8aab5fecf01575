// `dry_run: true` (contract 3): judges everything up to the call; nothing is reserved, called or kept.
import type { AudioCall } from "./audio-call.ts";
import { ERRORS } from "../contract/errors.ts";
import type { RoutingDecision } from "../contract/transcription.ts";
import { judgeBudget } from "../metering/budget.ts";
import type { AudioDecision } from "../routing/decide-translation.ts";
import { describeDecision } from "./describe-decision.ts";
import { quoteFor } from "./quote.ts";
import { decideWithChat } from "./translate-by-chat.ts";
import { type GatewayReply, jsonReply } from "./reply.ts";
import type { GatewayServices } from "./services.ts";
import type { SpeechAudio } from "../providers/provider.ts";
import { unlessAway } from "./unless-away.ts";
import { type AudioRequest, withAudio } from "./with-audio.ts";

export async function explain(
  services: GatewayServices,
  call: AudioCall,
  request: AudioRequest,
): Promise<GatewayReply> {
  return withAudio(services, request, async ({ speech }) => {
    const decided = decideWithChat(services, call, speech);
    const described = describeDecision(services, call, speech.durationSeconds, speech.channels, decided);
    const hasRoom = await budgetsHold(services, call, decided, speech);
    return jsonReply(200, hasRoom ? described : { ...described, outcome: NO_ROOM });
  });
}

const NO_ROOM: RoutingDecision["outcome"] = {
  status: ERRORS.BUDGET_EXCEEDED.status,
  code: "BUDGET_EXCEEDED",
  position: null,
};

/** Whether the app's budgets would hold the first call, as they stand now; true where there is none to be made. */
async function budgetsHold(
  services: GatewayServices,
  { principal }: AudioCall,
  { decision }: AudioDecision,
  { durationSeconds, channels }: Pick<SpeechAudio, "durationSeconds" | "channels">,
): Promise<boolean> {
  const first = decision.ok ? decision.candidates[0] : undefined;
  if (first === undefined || principal.app === null) return true;
  const quoted = quoteFor(services, principal, first.target, { audioMs: Math.round(durationSeconds * 1000), channels });
  const amounts = { nanoUsd: quoted.chargeNanoUsd, audioMs: BigInt(quoted.audioMs), tokens: 0n };
  const budgets = await unlessAway(services.ledger.budgetsOf(principal.workspace.id, principal.app.id));
  return budgets.every((budget) => judgeBudget(budget, amounts) === null);
}
