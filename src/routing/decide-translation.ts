// Decides how a translation is made: by targets that translate or, if there are none and the route allows it, by a chat target of the same route that
// translates the transcript [routing.translation-native] [routing.translation-via-chat]. Pure.
import type { Feature } from "../contract/features.ts";
import { type ChatPlanner, chatJudge, type ChatVerdict } from "./decide-chat-route.ts";
import {
  type AudioQuestion,
  decideRoute,
  decideSpeech,
  featureIndependentRefusal,
  restsOf,
  type RouteDecision,
  type RouteRefusal,
} from "./decide-route.ts";
import { type Candidate, pickCandidates, type UnavailabilityOf } from "./pick-candidates.ts";
import { type Requirements, requiredFeatures } from "./required-features.ts";
import type { RoutingContext } from "./types.ts";

export interface AudioDecision {
  /** For the targets that transcribe, if a chat target translates the transcript. */
  readonly decision: RouteDecision;
  /** Null: the targets of `decision` do all of the work. */
  readonly byChat: ByChat | null;
}

export interface ByChat {
  /** Every chat target that was considered. */
  readonly considered: readonly Candidate<ChatVerdict>[];
  /** The capable and healthy ones in order, at least one. */
  readonly candidates: readonly Candidate<ChatVerdict>[];
}

/** Features of the spoken words or of their timing. Nothing proves that they survive the translation of the text. */
const LOST_IN_TEXT: readonly Feature[] = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "multichannel",
  "streaming",
];

/** The refusals after which a chat may translate: no target translates, none that the workspace's plan pays for, or none whose model still exists. */
const LEADS_TO_CHAT: ReadonlySet<RouteRefusal["kind"]> = new Set(["unsupported", "credits_required", "model_retired"]);

/** `plan` plans the chat that would translate. */
export function decideAudio(
  context: RoutingContext,
  question: AudioQuestion,
  plan: ChatPlanner,
  unavailabilityOf: UnavailabilityOf,
): AudioDecision {
  const native = { decision: decideRoute(context, question, unavailabilityOf), byChat: null };
  if (question.task !== "translate" || native.decision.ok || !LEADS_TO_CHAT.has(native.decision.refusal.kind))
    return native;
  const { route } = native.decision;
  if (route?.translateViaChat !== true) return native;
  // Ignores unavailability: a target that is cooling down now is still capable.
  const transcript = decideTranscript(context, question, () => null);
  if (!transcript.ok) return native;

  const { considered, purpose, warnings } = native.decision;
  const lost = LOST_IN_TEXT.filter((feature) => transcript.wanted.features.includes(feature));
  if (lost.length > 0) {
    const refusal = { kind: "unsupported", missing: lost } as const;
    return { decision: { ok: false, route, refusal, considered, purpose, warnings }, byChat: null };
  }
  const profile = question.fields.response_profile ?? null;
  const picked = pickCandidates(route, "chat", profile, chatJudge(plan), unavailabilityOf);
  const capable = picked.candidates.filter(({ verdict }) => verdict.missing.length === 0);
  if (capable.length === 0) {
    const refusal = featureIndependentRefusal(picked.candidates);
    if (refusal === null) return native;
    return { decision: { ok: false, route, refusal, considered, purpose, warnings }, byChat: null };
  }
  const candidates = capable.filter(({ rest }) => rest === null);
  const decision = decideTranscript(context, question, unavailabilityOf);
  if (decision.ok && candidates.length === 0) {
    const refusal = { kind: "unhealthy", capability: "chat", rests: restsOf(capable) } as const;
    return { decision: { ...decision, ok: false, refusal }, byChat: null };
  }
  const knownCodes = new Set(decision.warnings.map(({ code }) => code));
  const newWarnings = picked.warnings.filter(({ code }) => !knownCodes.has(code));
  return {
    decision: { ...decision, warnings: [...decision.warnings, ...newWarnings] },
    byChat: { considered: picked.candidates, candidates },
  };
}

function decideTranscript(
  context: RoutingContext,
  question: AudioQuestion,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision {
  return decideSpeech(
    context,
    question,
    (fields) => inSpokenLanguage(requiredFeatures(fields, "transcribe")),
    unavailabilityOf,
  );
}

/** Detects the language unless the caller sent one: speech to be translated is seldom in the model's default language. */
function inSpokenLanguage(wanted: Requirements): Requirements {
  return wanted.language === null ? { ...wanted, detectLanguage: true } : wanted;
}
