// Turns a refusal by routing into the caller's error [routing.order]: NO_HEALTHY_PROVIDER, audio_purpose_unavailable, REQUIRED_FEATURE_UNSUPPORTED and
// others. Provider names are included only with the scope `routing:read` [routing.target-names-hidden].
import type { Principal } from "../../auth/principal.ts";
import { GatewayError, type GatewayErrorOptions } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import type { RetirementView } from "../../contract/transcription/transcription-envelope.ts";
import { assertNever } from "../../lib/assert-never.ts";
import { notOfferedText } from "../../providers/life-status.ts";
import type { RouteDecision, RouteRefusal } from "../../routing/decide-route.ts";
import { unusableText } from "../../routing/resolve-purpose.ts";
import type { Candidate, Missing, Unavailability } from "../../routing/pick-candidates.ts";

export function canSeeNames({ scopes }: Pick<Principal, "scopes">): boolean {
  return scopes.includes("routing:read");
}

/** Returns the decision if it allows the request, otherwise throws its refusal. */
export function requireRoute<Wanted, V extends Missing>(
  { principal }: { readonly principal: Pick<Principal, "scopes"> },
  decision: RouteDecision<Wanted, V>,
): Extract<RouteDecision<Wanted, V>, { readonly ok: true }> {
  if (decision.ok) return decision;
  throw refusalError(decision.refusal, decision.considered, canSeeNames(principal));
}

export function refusalError(
  refusal: RouteRefusal,
  considered: readonly Candidate<Missing>[],
  showNames: boolean,
): GatewayError {
  switch (refusal.kind) {
    case "purpose_unavailable":
      return new GatewayError("audio_purpose_unavailable", {
        message: `The purpose cannot be used for audio (${unusableText(refusal)}) and the strict policy forbids another route. See purposes in GET /v1/me.`,
        param: "purpose",
        details: { reason: refusal.reason },
      });
    case "profile_not_allowed":
      return invalidRequest(
        "response_profile",
        "The route does not allow requests to set response_profile. Omit the field.",
      );
    case "no_model":
      return new GatewayError("NO_HEALTHY_PROVIDER", {
        message: NO_MODEL[refusal.capability].message,
        details: { reason: NO_MODEL[refusal.capability].reason },
        retryable: false,
      });
    case "unsupported":
      return new GatewayError("REQUIRED_FEATURE_UNSUPPORTED", {
        message: `No target of the route supports everything requested; missing: ${refusal.missing.join(", ")}. Nothing was called. Drop the feature, or use a route that supports it.${refusal.missing.includes("decoder") ? DECODER_ADVICE : ""}${unofferedOf(considered, showNames)}${showNames ? adviceOf(considered) : ""}`,
        details: {
          missing: refusal.missing,
          candidates: considered.map((candidate) => describeLacks(candidate, showNames)),
        },
      });
    case "credits_required":
      return unpricedForPlan();
    case "model_retired":
      return modelRetired(considered, showNames);
    case "unhealthy": {
      const { message, ...rest } = describeUnavailability(refusal.rests);
      // A chat route with all circuits open counts as exhausted [chat.exhausted].
      return new GatewayError(refusal.capability === "chat" ? "all_providers_exhausted" : "NO_HEALTHY_PROVIDER", {
        ...rest,
        // A model on this machine may only lack what a command installs.
        message: `${message}${showNames ? adviceOf(considered) : ""}`,
        retryable: true,
      });
    }
    default:
      return assertNever(refusal);
  }
}

function unpricedForPlan(): GatewayError {
  return new GatewayError("CREDITS_REQUIRED", {
    message:
      "The workspace's plan covers priced models only, and no model of the route that could serve this request has a price. Use a route with priced models, or connect your own provider account.",
  });
}

function modelRetired(considered: readonly Candidate<Missing>[], showNames: boolean): GatewayError {
  const ended = considered.flatMap(({ target, retired }) => {
    if (retired === undefined) return [];
    const name = showNames ? `${target.connection}/${target.model}` : `target ${target.position}`;
    return [`${name} on ${retired.date}`];
  });
  return new GatewayError("NO_HEALTHY_PROVIDER", {
    message: `The providers have ended every model of the route that could serve this request (${ended.join(", ")}). Nothing was called. The route needs a target with a current model.`,
    details: {
      reason: "model_retired",
      candidates: considered.map((candidate) => describeLacks(candidate, showNames)),
    },
    retryable: false,
  });
}

/** The source names the provider. */
export function describeRetirement(
  { retired }: Pick<Candidate<Missing>, "retired">,
  showNames: boolean,
): { readonly retired?: RetirementView } {
  if (retired === undefined) return {};
  return { retired: { ended_on: retired.date, ...(showNames ? { source: retired.source } : {}) } };
}

const RETRY_AFTER_FAILURES_SECONDS = 10;
/** Capped, because a pause may be ended early. */
const MOST_RETRY_AFTER_SECONDS = 60;

/** Leaves out the reason of a pause, which is meant for operators only. */
function describeUnavailability(
  unavailabilities: readonly Unavailability[],
): Pick<GatewayErrorOptions, "message" | "details" | "retryAfterSeconds"> {
  const pauses = unavailabilities.filter((rest) => rest.kind === "paused");
  const [first] = pauses.toSorted((left, right) => left.secondsLeft - right.secondsLeft);
  if (first === undefined)
    return {
      message: "Every target that could serve this request is unavailable after repeated failures. Retry later.",
      details: { reason: "unhealthy" },
      retryAfterSeconds: RETRY_AFTER_FAILURES_SECONDS,
    };
  const until = first.until.toISOString();
  const isEach = pauses.length === unavailabilities.length;
  const longest = isEach ? MOST_RETRY_AFTER_SECONDS : RETRY_AFTER_FAILURES_SECONDS;
  return {
    message: isEach
      ? `Every target that could serve this request is paused manually until ${until} or until it is resumed earlier. No provider failed. Retry then.`
      : `Every target that could serve this request is unavailable after repeated failures, or paused manually (until ${until}, or until it is resumed earlier). Retry later.`,
    details: { reason: "unhealthy", paused_until: until },
    retryAfterSeconds: Math.max(1, Math.min(first.secondsLeft, longest)),
  };
}

const NO_MODEL = {
  audio_input: {
    reason: "no_audio_model",
    message:
      "The route of this key has no audio model. Assign a route with a speech model, or set an audio_input override.",
  },
  chat: {
    reason: "no_chat_model",
    message: "The route of this key has no chat model. Assign a route with one.",
  },
} as const;

/** Both a caller and an operator can do something about it [measuring.decoder]. */
const DECODER_ADVICE =
  " Without ffmpeg the gateway decodes WAV and MP3 only: send one of them, or install ffmpeg on its machine.";

/** What an operator can do about models on the gateway's machine [local.hints]. It names models, so it is shown to those who may see names. */
function adviceOf(considered: readonly Candidate<Missing>[]): string {
  const advice = new Set(considered.flatMap(hintsOf));
  return [...advice].map((each) => ` On the gateway's machine: ${each}.`).join("");
}

/** Why models that are known are not offered [providers.not-offered]. The reason names the provider. */
function unofferedOf(considered: readonly Candidate<Missing>[], showNames: boolean): string {
  return considered
    .flatMap(({ target: { connection, model, position, speech } }) => {
      if (speech?.notOffered === undefined) return [];
      return showNames
        ? [` ${notOfferedText(`\`${connection}/${model}\``, speech.notOffered)}.`]
        : [` The model of target ${position} is known, not offered here since ${speech.notOffered.since}.`];
    })
    .join("");
}

function hintsOf({ target, verdict }: Candidate<Missing>): readonly string[] {
  const hints: Readonly<Record<string, string | undefined>> = target.speech?.hints ?? {};
  return verdict.missing.flatMap((lack) => (Object.hasOwn(hints, lack) ? (hints[lack] ?? []) : []));
}

function describeLacks(candidate: Candidate<Missing>, showNames: boolean): Record<string, unknown> {
  const { target, verdict } = candidate;
  const names = showNames ? { connection: target.connection, provider: target.provider, model: target.model } : {};
  return { position: target.position, missing: verdict.missing, ...describeRetirement(candidate, showNames), ...names };
}
