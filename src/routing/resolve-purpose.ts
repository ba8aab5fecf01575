// Resolves which route the purpose of a request selects [routing.purpose-selects-route], from the body's field before the header, and what happens if the
// purpose cannot be applied. Pure.
import type { Capability } from "../contract/features.ts";
import { suggest } from "../lib/text/suggest.ts";
import type { PurposeFields, Warning } from "../contract/transcription/transcription-envelope.ts";
import { isCapable, type Purpose, type PurposePolicy, type Route, type RoutingContext } from "./types.ts";
import { contextRouteOf } from "./audio-input-override.ts";

/** What the caller sent. Any visible characters are accepted as a label; one outside the grammar is an unknown purpose. */
export interface PurposeRequest {
  readonly body: string | null;
  readonly header: string | null;
  readonly policy: PurposePolicy | null;
}

export type PurposeRefusalReason = "unknown" | "disabled" | "unpublished" | "no_audio_model" | "no_chat_model";

export type PurposeOutcome =
  | {
      readonly ok: true;
      readonly route: Route;
      readonly purpose: Purpose | null;
      readonly fields: PurposeFields;
      readonly warnings: readonly Warning[];
    }
  | ({ readonly ok: false; readonly fields: PurposeFields } & UnusablePurpose);

export interface UnusablePurpose {
  readonly reason: PurposeRefusalReason;
  /** The published label closest to an unknown one. */
  readonly suggestion?: string;
}

/**
 * Resolves audio in the context of the `audio_input` override if there is one, everything else in the context of the key's route
 * [routing.purpose-override-context].
 */
export function resolvePurpose(
  context: RoutingContext,
  capability: Capability,
  request: PurposeRequest,
): PurposeOutcome {
  const contextRoute = contextRouteOf(context, capability);
  const requested = request.body ?? request.header;
  const label = requested ?? context.defaultPurpose;
  if (label === null) {
    return { ok: true, route: contextRoute, purpose: null, fields: fields(null, null, "none"), warnings: [] };
  }
  const usable = usablePurpose(context, contextRoute, label, capability);
  if (usable.ok) {
    const source = request.body !== null ? "body" : request.header !== null ? "header" : "app_default";
    return {
      ok: true,
      route: usable.route,
      purpose: usable.purpose,
      fields: fields(requested, label, source),
      warnings: [],
    };
  }
  const fallbackFields = fields(requested, null, "fallback");
  // A default purpose was not requested explicitly, so it falls back under both policies [routing.purpose-default]. Chat always falls back
  // [routing.purpose-chat].
  const judgesPolicy = capability === "audio_input" && requested !== null;
  if (judgesPolicy && combinePolicies(context.audioPurposePolicy, request.policy) === "strict") {
    const { ok: _, ...unusable } = usable;
    return { ok: false, fields: fallbackFields, ...unusable };
  }
  return {
    ok: true,
    route: contextRoute,
    purpose: null,
    fields: fallbackFields,
    warnings: [notApplied(usable)],
  };
}

/** The purposes of a context by label. Those of the key take precedence over the app's, and those over the route's. */
export function purposesOf(context: RoutingContext, contextRoute: Route): ReadonlyMap<string, Purpose> {
  const byLabel = new Map<string, Purpose>();
  for (const purpose of [...context.boundPurposes, ...contextRoute.purposes]) {
    if (!byLabel.has(purpose.label)) byLabel.set(purpose.label, purpose);
  }
  return byLabel;
}

function usablePurpose(
  context: RoutingContext,
  contextRoute: Route,
  label: string,
  capability: Capability,
):
  | { readonly ok: true; readonly purpose: Purpose; readonly route: Route }
  | ({ readonly ok: false } & UnusablePurpose) {
  const purposes = purposesOf(context, contextRoute);
  const purpose = purposes.get(label);
  if (purpose === undefined) return { ok: false, reason: "unknown", ...suggestionFor(label, purposes.values()) };
  if (!purpose.isEnabled) return { ok: false, reason: "disabled" };
  if (!purpose.isPublished) return { ok: false, reason: "unpublished" };
  const route = context.routes.get(purpose.route);
  if (route === undefined || !route.targets.some((target) => isCapable(target, capability)))
    return { ok: false, reason: capability === "audio_input" ? "no_audio_model" : "no_chat_model" };
  return { ok: true, purpose, route };
}

/** Among what `GET /v1/me` shows to the same key. */
function suggestionFor(label: string, purposes: Iterable<Purpose>): { readonly suggestion?: string } {
  const published = [...purposes].filter(({ isEnabled, isPublished }) => isEnabled && isPublished);
  const suggestion = suggest(
    label,
    published.map((each) => each.label),
  );
  return suggestion === undefined ? {} : { suggestion };
}

/** `unknown; did you mean `meetings`?` */
export function unusableText({ reason, suggestion }: UnusablePurpose): string {
  return suggestion === undefined ? reason : `${reason}; did you mean \`${suggestion}\`?`;
}

/** The stricter one wins [routing.purpose-strict]. */
export function combinePolicies(one: PurposePolicy, other: PurposePolicy | null): PurposePolicy;
export function combinePolicies(one: PurposePolicy | null, other: PurposePolicy | null): PurposePolicy | null;
export function combinePolicies(one: PurposePolicy | null, other: PurposePolicy | null): PurposePolicy | null {
  return one === "strict" || other === "strict" ? "strict" : (one ?? other);
}

function fields(
  requested: string | null,
  applied: string | null,
  source: PurposeFields["svc_purpose_source"],
): PurposeFields {
  return { svc_requested_purpose: requested, svc_applied_purpose: applied, svc_purpose_source: source };
}

function notApplied(unusable: UnusablePurpose): Warning {
  return {
    code: "PURPOSE_NOT_APPLIED",
    message: `The purpose was not applied (${unusableText(unusable)}); the request used the key's default routing.`,
    param: "purpose",
    details: { reason: unusable.reason },
  };
}
