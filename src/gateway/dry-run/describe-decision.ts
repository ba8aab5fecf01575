// The answer to `dry_run: true`: the routing decision of the request as data [routing.dry-run-decision].
import type { Principal } from "../../auth/principal.ts";
import { ERRORS } from "../../contract/errors.ts";
import type { RoutingDecision } from "../../contract/transcription/transcription-envelope.ts";
import { formatUsd } from "../../metering/money.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";
import type { AudioDecision } from "../../routing/decide-translation.ts";
import type { RouteDecision } from "../../routing/decide-route.ts";
import type { Cut } from "../../routing/judge-cut.ts";
import type { Verdict } from "../../routing/judge-target.ts";
import type { Candidate, Missing } from "../../routing/pick-candidates.ts";
import { refusalError, canSeeNames, describeRetirement } from "../calls/routing-errors.ts";
import { TRANSLATED_BY_CHAT } from "../translation/translate-by-chat.ts";

/** Who reads the description: with the scope `routing:read` it has names. */
type Viewer = Pick<Principal, "scopes">;

/** `listNanoUsd`: the app's charge or, on another account, the list price. Null: unknown. */
export function describeAudioDecision(
  principal: Viewer,
  { decision, byChat }: AudioDecision,
  listNanoUsd: bigint | null,
  audioSeconds: number,
): RoutingDecision {
  const split = ({ cut }: Verdict) => (cut === null ? {} : { split: splitOf(cut, audioSeconds) });
  const description = describe(principal, decision, listNanoUsd, audioSeconds, split);
  if (byChat === null) return description;
  const showNames = canSeeNames(principal);
  return {
    ...description,
    // The targets that transcribe, then those that translate. A target that does both is listed for each.
    candidates: [...description.candidates, ...byChat.considered.map((each) => describeCandidate(each, showNames))],
    warnings: [...description.warnings, TRANSLATED_BY_CHAT],
  };
}

/** The same for audio of unknown length, which has no known cost. */
export function describeUnmeasured(principal: Viewer, decision: RouteDecision): RoutingDecision {
  return describe(principal, decision, null, null);
}

/** The same for a chat. Its cost is what would be reserved. */
export function describeChatDecision(
  principal: Viewer,
  decision: ChatDecision,
  listNanoUsd: bigint | null,
): RoutingDecision {
  return describe(principal, decision, listNanoUsd, null);
}

function describe<Wanted, V extends Missing>(
  principal: Viewer,
  decision: RouteDecision<Wanted, V>,
  listNanoUsd: bigint | null,
  audioSeconds: number | null,
  extraFields: (verdict: V) => Pick<DescribedCandidate, "split"> = () => ({}),
): RoutingDecision {
  const showNames = canSeeNames(principal);
  const first = decision.ok ? decision.candidates[0] : undefined;
  return {
    object: "routing.decision",
    outcome: decision.ok
      ? { status: 200, code: null, position: first?.target.position ?? null }
      : refusedOutcome(refusalError(decision.refusal, decision.considered, showNames).code),
    candidates: decision.considered.map((candidate) => ({
      ...describeCandidate(candidate, showNames),
      ...extraFields(candidate.verdict),
    })),
    purpose: decision.purpose,
    warnings: [...decision.warnings],
    estimated_cost_usd: listNanoUsd === null ? null : formatUsd(listNanoUsd),
    audio_seconds: audioSeconds,
  };
}

type DescribedCandidate = RoutingDecision["candidates"][number];

/** The minimum, because cuts are made at pauses and there can be more pieces. */
function splitOf(
  { maxFrames, sampleRate, channels, perChannel }: Cut,
  audioSeconds: number,
): NonNullable<DescribedCandidate["split"]> {
  const seconds = maxFrames / sampleRate;
  const each = Math.ceil(audioSeconds / seconds);
  return {
    max_piece_seconds: Math.floor(seconds * 1000) / 1000,
    least_pieces: perChannel === true ? each * channels : each,
  };
}

export function refusedOutcome(code: keyof typeof ERRORS): RoutingDecision["outcome"] {
  return { status: ERRORS[code].status, code, position: null };
}

function describeCandidate(candidate: Candidate<Missing>, showNames: boolean): DescribedCandidate {
  const { target, verdict, rest } = candidate;
  const names = showNames ? { connection: target.connection, provider: target.provider, model: target.model } : {};
  return {
    position: target.position,
    eligible: verdict.missing.length === 0,
    missing: [...verdict.missing],
    health: rest === null ? "healthy" : "resting",
    ...(rest?.kind === "paused" ? { paused_until: rest.until.toISOString() } : {}),
    ...describeRetirement(candidate, showNames),
    ...names,
  };
}
