// Decides and records the route of an audio request, the same way for requests, streams, live audio, jobs and dry runs.
import type { Decoder } from "../../audio/decode/decoder.ts";
import type { DecodableAudio } from "../../audio/decode/pcm.ts";
import type { ChatPlanner } from "../../routing/decide-chat-route.ts";
import { type AudioQuestion, decideRoute, type RouteDecision } from "../../routing/decide-route.ts";
import { type AudioDecision, decideAudio } from "../../routing/decide-translation.ts";
import { requiredAspects } from "../../routing/data-policy.ts";
import type { AudioFacts } from "../../routing/judge-target.ts";
import type { Missing, UnavailabilityOf } from "../../routing/pick-candidates.ts";
import { requiredFeatures } from "../../routing/required-features.ts";
import { combinePolicies } from "../../routing/resolve-purpose.ts";
import type { RoutingContext } from "../../routing/types.ts";
import { appOf } from "../account/app-of.ts";
import { type UnavailabilityServices, unavailabilityFor } from "../calls/target-unavailability.ts";
import { chatPlanner, type PlanServices } from "../chat/plan-chat.ts";
import type { GatewayServices } from "../services.ts";
import { expectedTranslation } from "../translation/translation-prompt.ts";
import type { RoutedCall } from "./audio-call.ts";

type DecideServices = Pick<GatewayServices, "directory" | "decoder">;

export type MeasuredFacts = Omit<AudioFacts, "pcmRate"> & DecodableAudio;

/** For synchronous answers and dry runs: if no target translates, a chat target may translate the transcript. */
export function decideWithChat(
  services: DecideServices & UnavailabilityServices & PlanServices,
  call: RoutedCall,
  facts: MeasuredFacts,
): AudioDecision {
  const { context, question } = questionOf(services, call, facts);
  // Evaluated lazily, because a transcription, or a translation by the target itself, needs no chat plan.
  const plan: ChatPlanner = (target, settings) =>
    chatPlanner(services, expectedTranslation(facts.durationSeconds, call.fields.to_language))(target, settings);
  const audioDecision = decideAudio(context, question, plan, unavailabilityFor(services, call.principal));
  const { decision, byChat } = audioDecision;
  const considered = [...decision.considered, ...(byChat?.considered ?? [])];
  recordDecision(call, context, question, { ...decision, considered });
  return audioDecision;
}

/** For streams, live audio and jobs. `facts` is null while the audio has yet to be fetched. What depends on them is judged later. */
export function decideFor(
  services: DecideServices,
  call: RoutedCall,
  facts: MeasuredFacts | null,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision {
  const { context, question } = questionOf(services, call, facts);
  const decision = decideRoute(context, question, unavailabilityOf);
  recordDecision(call, context, question, decision);
  return decision;
}

function questionOf(
  { directory, decoder }: DecideServices,
  { task, principal, fields, purposeHeader, policyHeader }: RoutedCall,
  facts: MeasuredFacts | null,
): { readonly context: RoutingContext; readonly question: AudioQuestion } {
  const context = directory().contextOf(principal.workspace.id, appOf(principal), principal.key.routing);
  const policy = combinePolicies(fields.purpose_policy ?? null, policyHeader);
  const purpose = { body: fields.purpose ?? null, header: purposeHeader, policy };
  const audio = facts === null ? null : audioFacts(decoder, facts);
  return { context, question: { task, fields, purpose, audio } };
}

/** The facts for routing: the measurements, and whether the gateway can decode the recording. */
export function audioFacts(decoder: Decoder, facts: MeasuredFacts): AudioFacts {
  return { ...facts, pcmRate: decoder.rateOf(facts) };
}

function recordDecision(
  { recorder }: RoutedCall,
  { audioPurposePolicy }: RoutingContext,
  { task, fields, audio, purpose }: AudioQuestion,
  decision: RouteDecision<unknown, Missing>,
): void {
  // The length of live audio is known at its end only.
  if (audio !== null && audio.live === undefined) recorder.measured(audio.durationSeconds);
  // What the request itself asks for, without the defaults of a purpose, which belong to the operator.
  const { features, preferences } = requiredFeatures(fields, task);
  const asked = {
    capability: "audio_input",
    features: [...features, ...requiredAspects(fields.data_policy)],
    preferences,
    profile: fields.response_profile ?? null,
    stream: features.includes("streaming"),
    dry_run: fields.dry_run === true,
  } as const;
  recorder.decided(decision, asked, combinePolicies(audioPurposePolicy, purpose.policy));
}
