// How a translation is made: by targets that translate; where there are none and the route allows it, a transcript is made and a chat
// target of the same route translates its text [routing.translation-native] [routing.translation-via-chat]. Pure.
import type { Feature } from "../contract/features.ts";
import { type ChatPlanner, chatJudge, type ChatVerdict } from "./decide-chat-route.ts";
import {
  type AudioQuestion,
  decideRoute,
  decideSpeech,
  restsOf,
  type RouteDecision,
  type RouteRefusal,
} from "./decide-route.ts";
import { type Candidate, lacksPriceAlone, pickCandidates, type UnavailabilityOf } from "./pick-candidates.ts";
import { type Requirements, requiredFeatures } from "./required-features.ts";
import type { RoutingContext } from "./types.ts";

export interface AudioDecision {
  /** Of the transcript's targets, when a chat is to translate it. */
  readonly decision: RouteDecision;
  /** null: the targets of `decision` do all of it. */
  readonly byChat: ByChat | null;
}

export interface ByChat {
  /** Every chat target that was considered. */
  readonly considered: readonly Candidate<ChatVerdict>[];
  /** The able and healthy ones, in order; at least one. */
  readonly candidates: readonly Candidate<ChatVerdict>[];
}

/** What belongs to the words that were spoken, or to the moment: nothing proves that it survives a translation of the text. */
const LOST_IN_TEXT: readonly Feature[] = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "multichannel",
  "streaming",
];

/** No target translates, or none that the workspace's plan pays for. */
const LEADS_TO_CHAT: ReadonlySet<RouteRefusal["kind"]> = new Set(["unsupported", "credits_required"]);

/** `plan` is of the chat to come. */
export function decideAudio(
  context: RoutingContext,
  question: AudioQuestion,
  plan: ChatPlanner,
  restOf: UnavailabilityOf,
): AudioDecision {
  const native = { decision: decideRoute(context, question, restOf), byChat: null };
  if (question.task !== "translate" || native.decision.ok || !LEADS_TO_CHAT.has(native.decision.refusal.kind))
    return native;
  const { route } = native.decision;
  if (route?.translateViaChat !== true) return native;
  // What rests now is no less able, and does not make of a route that could one that cannot.
  const able = decideTranscript(context, question, () => null);
  if (!able.ok) return native;

  const { considered, purpose, warnings } = native.decision;
  const lost = LOST_IN_TEXT.filter((feature) => able.wanted.features.includes(feature));
  if (lost.length > 0) {
    const refusal = { kind: "unsupported", missing: lost } as const;
    return { decision: { ok: false, route, refusal, considered, purpose, warnings }, byChat: null };
  }
  const profile = question.fields.response_profile ?? null;
  const picked = pickCandidates(route, "chat", profile, chatJudge(plan), restOf);
  const capable = picked.candidates.filter(({ verdict }) => verdict.missing.length === 0);
  if (capable.length === 0) {
    if (!picked.candidates.some(lacksPriceAlone)) return native;
    const refusal = { kind: "credits_required" } as const;
    return { decision: { ok: false, route, refusal, considered, purpose, warnings }, byChat: null };
  }
  const candidates = capable.filter(({ rest }) => rest === null);
  const decision = decideTranscript(context, question, restOf);
  if (decision.ok && candidates.length === 0) {
    const refusal = { kind: "unhealthy", capability: "chat", rests: restsOf(capable) } as const;
    return { decision: { ...decision, ok: false, refusal }, byChat: null };
  }
  const told = new Set(decision.warnings.map(({ code }) => code));
  const news = picked.warnings.filter(({ code }) => !told.has(code));
  return {
    decision: { ...decision, warnings: [...decision.warnings, ...news] },
    byChat: { considered: picked.candidates, candidates },
  };
}

function decideTranscript(context: RoutingContext, question: AudioQuestion, restOf: UnavailabilityOf): RouteDecision {
  return decideSpeech(context, question, (fields) => inSpokenLanguage(requiredFeatures(fields, "transcribe")), restOf);
}

/** Who has something translated seldom speaks a model's default language: unsaid, the language is to be found out. */
function inSpokenLanguage(wanted: Requirements): Requirements {
  return wanted.language === null ? { ...wanted, detectLanguage: true } : wanted;
}
