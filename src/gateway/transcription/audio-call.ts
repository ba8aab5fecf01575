// A request for a transcript, synchronous or by a job, and the checks that both share.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Decoder } from "../../audio/decode/decoder.ts";
import type { DecodableAudio } from "../../audio/decode/pcm.ts";
import type { AudioInput } from "../../audio/audio-input.ts";
import type { Principal } from "../../auth/principal.ts";
import { GatewayError } from "../../contract/errors.ts";
import { refuseMalformedKey } from "../../contract/idempotency-key.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { TranslationFields } from "../../contract/transcription.ts";
import { type AudioQuestion, decideRoute, type RouteDecision } from "../../routing/decide-route.ts";
import type { AudioFacts } from "../../routing/judge-target.ts";
import type { Missing, UnavailabilityOf } from "../../routing/pick-candidates.ts";
import { mergedKeyterms, requiredFeatures, type Requirements } from "../../routing/required-features.ts";
import { strictest } from "../../routing/resolve-purpose.ts";
import type { PurposePolicy, RoutingContext } from "../../routing/types.ts";
import { appOf } from "../account/app-of.ts";
import { fingerprint } from "../idempotency/fingerprint.ts";
import type { ClaimRequest } from "../idempotency/idempotency.ts";
import type { Asked, Recorder } from "../request-record.ts";
import type { Payer } from "../calls/candidate-run.ts";
import type { GatewayServices } from "../services.ts";

/** A validated audio request. */
export interface AudioCall extends RoutedCall {
  readonly audio: AudioInput;
  readonly idempotencyKey: string | null;
  /** Where memory for a stored answer is reserved. */
  readonly room?: AnswerRoom;
  /** `response_format` was not sent but derived from the Accept header. It is not part of the payload. */
  readonly formatByAccept?: boolean;
}

/** The part of a request that routing and billing need, whatever the source of its audio. */
export interface RoutedCall {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly task: Requirements["task"];
  readonly principal: Principal;
  /** `to_language` is used by translations only. */
  readonly fields: TranslationFields;
  readonly purposeHeader: string | null;
  readonly policyHeader: PurposePolicy | null;
  readonly recorder: Recorder;
}

export function payerOf(
  { requestId, endpoint, principal }: RoutedCall,
  { purpose }: Pick<RouteDecision, "purpose">,
): Payer {
  return {
    requestId,
    endpoint,
    workspaceId: principal.workspace.id,
    appId: appOf(principal).id,
    keyId: principal.key.id,
    purpose: purpose.svc_applied_purpose,
    testMode: principal.testMode,
    hasPlan: principal.workspace.plan !== null,
  };
}

export type MeasuredFacts = Omit<AudioFacts, "pcmRate"> & DecodableAudio;

/** The facts for routing: the measurements, and whether the gateway can decode the recording. */
export function audioFacts(decoder: Decoder, facts: MeasuredFacts): AudioFacts {
  return { ...facts, pcmRate: decoder.rateOf(facts) };
}

/** `facts` is null while the audio has yet to be fetched. What depends on them is judged later. */
export function decideFor(
  services: Pick<GatewayServices, "directory" | "decoder">,
  call: RoutedCall,
  facts: MeasuredFacts | null,
  unavailabilityOf: UnavailabilityOf,
): RouteDecision {
  const context = contextOf(services, call);
  const question = questionOf(services, call, facts);
  const decision = decideRoute(context, question, unavailabilityOf);
  recordDecision(call, context, question, decision);
  return decision;
}

export function contextOf(services: Pick<GatewayServices, "directory">, { principal }: RoutedCall): RoutingContext {
  return services.directory().contextOf(principal.workspace.id, appOf(principal), principal.key.routing);
}

export function questionOf(
  { decoder }: Pick<GatewayServices, "decoder">,
  call: RoutedCall,
  facts: MeasuredFacts | null,
): AudioQuestion {
  return {
    task: call.task,
    fields: call.fields,
    purpose: {
      body: call.fields.purpose ?? null,
      header: call.purposeHeader,
      policy: requestedPolicy(call),
    },
    audio: facts === null ? null : audioFacts(decoder, facts),
  };
}

/** If field and header differ, the stricter policy wins, as it does over the key's own [routing.purpose-strict]. */
function requestedPolicy({ fields, policyHeader }: Pick<AudioCall, "fields" | "policyHeader">): PurposePolicy | null {
  if (fields.purpose_policy === "strict" || policyHeader === "strict") return "strict";
  return fields.purpose_policy ?? policyHeader;
}

export function recordDecision(
  call: RoutedCall,
  context: RoutingContext,
  { audio, purpose }: AudioQuestion,
  decision: RouteDecision<unknown, Missing>,
): void {
  // The length of live audio is known at its end only.
  if (audio !== null && audio.live === undefined) call.recorder.measured(audio.durationSeconds);
  call.recorder.decided(decision, askedOf(call), strictest(context.audioPurposePolicy, purpose.policy));
}

/** What the request itself asks for, without the defaults of a purpose, which belong to the operator. */
function askedOf({ fields, task }: RoutedCall): Asked {
  const { features, preferences } = requiredFeatures(fields, task);
  return {
    capability: "audio_input",
    features,
    preferences,
    profile: fields.response_profile ?? null,
    stream: features.includes("streaming"),
    dry_run: fields.dry_run === true,
  };
}

/** `max_keyterms` limits the merged list. A purpose's default terms belong to the operator and are not counted. */
export function refuseTooManyKeyterms(
  { limits }: { readonly limits: Pick<GatewayServices["limits"], "maxKeyterms"> },
  { fields }: Pick<AudioCall, "fields">,
  prefix = "",
): void {
  const param = `${prefix}keyterms`;
  const count = mergedKeyterms(fields).length;
  if (count <= limits.maxKeyterms) return;
  const message = `keyterms and custom_vocabulary contain ${count} different terms in total; the maximum is ${limits.maxKeyterms}.`;
  throw new GatewayError("INVALID_REQUEST", {
    message,
    param,
    details: { max_keyterms: limits.maxKeyterms, received: count, issues: [{ param, message }] },
  });
}

/** Null if there is no key, or if it is ignored. `extra`: the endpoint's own fields. */
export async function slotRequest(
  call: AudioCall,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<ClaimRequest | null> {
  const { idempotencyKey, fields, formatByAccept, principal, endpoint, audio } = call;
  if (idempotencyKey === null || fields.stream === true || principal.app === null) return null;
  refuseMalformedKey(idempotencyKey);
  return {
    workspaceId: principal.workspace.id,
    appId: principal.app.id,
    key: idempotencyKey,
    endpoint,
    room: call.room,
    fingerprint: fingerprint({
      endpoint,
      fields: formatByAccept === true ? { ...fields, response_format: undefined } : fields,
      extra,
      requestedPurpose: fields.purpose ?? call.purposeHeader,
      requestedPolicy: requestedPolicy(call),
      audio:
        audio.kind === "url"
          ? { kind: "url", url: audio.url }
          : { kind: "bytes", sha256: await audio.spooled.sha256(), sizeBytes: audio.spooled.sizeBytes },
    }),
  };
}
