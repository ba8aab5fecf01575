// The answer to `dry_run: true` (contract 3): the same decision the request would have run on, as data.
import { ERRORS } from "../contract/errors.ts";
import type { RoutingDecision } from "../contract/transcription.ts";
import { formatUsd } from "../metering/money.ts";
import type { RouteDecision } from "../routing/decide-route.ts";
import type { Candidate } from "../routing/pick-candidates.ts";
import { quoteFor } from "./quote.ts";
import { refusalError } from "./refuse-route.ts";
import type { GatewayServices } from "./services.ts";
import type { AudioCall } from "./audio-call.ts";

export function describeDecision(
  services: GatewayServices,
  call: AudioCall,
  audioSeconds: number,
  channels: number,
  decision: RouteDecision,
): RoutingDecision {
  const showNames = call.principal.scopes.includes("routing:read");
  const first = decision.ok ? decision.candidates[0] : undefined;
  return {
    object: "routing.decision",
    outcome: decision.ok
      ? { status: 200, code: null, position: first?.target.position ?? null }
      : refused(refusalError(decision.refusal, decision.considered, showNames).code),
    candidates: decision.considered.map((candidate) => describeCandidate(candidate, showNames)),
    purpose: decision.purpose,
    warnings: [...decision.warnings],
    estimated_cost_usd: first === undefined ? null : estimate(services, call, first, audioSeconds, channels),
    audio_seconds: audioSeconds,
  };
}

function refused(code: keyof typeof ERRORS): RoutingDecision["outcome"] {
  return { status: ERRORS[code].status, code, position: null };
}

function describeCandidate(
  { target, verdict, healthy }: Candidate,
  showNames: boolean,
): RoutingDecision["candidates"][number] {
  const names = showNames ? { connection: target.connection, provider: target.provider, model: target.model } : {};
  return {
    position: target.position,
    eligible: verdict.missing.length === 0,
    missing: [...verdict.missing],
    health: healthy ? "healthy" : "resting",
    ...names,
  };
}

/** What the app would be charged or, on another's account, the list price; null when unknown. */
function estimate(
  services: GatewayServices,
  call: AudioCall,
  candidate: Candidate,
  audioSeconds: number,
  channels: number,
): string | null {
  const quote = quoteFor(services, call.principal, candidate.target, {
    audioMs: Math.round(audioSeconds * 1000),
    channels,
  });
  return quote.listNanoUsd === null ? null : formatUsd(quote.listNanoUsd);
}
