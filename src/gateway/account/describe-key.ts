// The answer to GET /v1/me: the key, the purposes of each context and the supported features [keys.me]. Pure.
import type { Principal } from "../../auth/principal.ts";
import type { KeyDescription } from "../../contract/account.ts";
import { CAPABILITIES, type Capability, CHAT_FEATURES, FEATURES } from "../../contract/features.ts";
import { purposesOf } from "../../routing/resolve-purpose.ts";
import { contextRouteOf } from "../../routing/audio-input-override.ts";
import { isCapable, type Purpose, type Route, type RoutingContext } from "../../routing/types.ts";
import { canSeeNames } from "../calls/routing-errors.ts";

type RoutingEntry = KeyDescription["routing_contexts"][number];
type PurposeEntry = RoutingEntry["purposes"][number];
type PublishedPurpose = KeyDescription["purposes"][number];

/** `context` is null for keys without an app (administrators, operators), which cannot route requests. */
export function describeKey(principal: Principal, context: RoutingContext | null): KeyDescription {
  const { key, workspace, app } = principal;
  const showTargets = canSeeNames(principal);
  const contexts = context === null ? [] : routingContexts(context, showTargets);
  return {
    object: "key",
    key: {
      id: key.id,
      prefix: key.prefix,
      last4: key.last4,
      name: key.name,
      role: key.role,
      scopes: [...principal.scopes],
      created_at: key.createdAt.toISOString(),
      expires_at: key.expiresAt?.toISOString() ?? null,
    },
    app: app === null ? null : { id: app.id, name: app.name },
    workspace: { id: workspace.id, slug: workspace.slug },
    audio_purpose_policy: context?.audioPurposePolicy ?? "fallback",
    purposes: unionByLabel(contexts),
    routing_contexts: contexts,
  };
}

function routingContexts(context: RoutingContext, showTargets: boolean): RoutingEntry[] {
  const { route, audioInputOverride } = context;
  // Without an override the route serves both capabilities.
  const defaultCapabilities =
    audioInputOverride === null ? CAPABILITIES : CAPABILITIES.filter((each) => each !== "audio_input");
  const description = describeRoute(context, route, { showTargets, served: defaultCapabilities, shown: CAPABILITIES });
  return [
    { context: "default", ...withChatFeatures(description, route) },
    {
      context: "audio_input",
      source: audioInputOverride === null ? "route" : "capability_override",
      ...describeRoute(context, contextRouteOf(context, "audio_input"), {
        showTargets,
        served: ["audio_input"],
        shown: ["audio_input"],
      }),
    },
  ];
}

interface Described {
  readonly showTargets: boolean;
  /** The capabilities that are routed in this context. */
  readonly served: readonly Capability[];
  readonly shown: readonly Capability[];
}

function describeRoute(
  context: RoutingContext,
  route: Route,
  { showTargets, served, shown }: Described,
): Omit<RoutingEntry, "context" | "source"> {
  const capabilities = shown.filter((capability) => hasModelFor(route, capability));
  const purposes = [...purposesOf(context, route).values()]
    .filter((purpose) => purpose.isPublished)
    .map((purpose) => toEntry(purpose, context.routes.get(purpose.route), served));
  const targets = route.targets.map(({ position, connection, provider, model }) => ({
    position,
    connection,
    provider,
    model,
  }));
  return { capabilities, features: featuresOf(route), purposes, ...(showTargets ? { targets } : {}) };
}

/** Adds the chat features of the key's own route, which serves all chats. */
function withChatFeatures<Entry extends Pick<RoutingEntry, "features">>(entry: Entry, route: Route): Entry {
  const features = Object.fromEntries(
    CHAT_FEATURES.map((feature) => [
      feature,
      route.targets.some((target) => target.chat?.features.includes(feature) === true),
    ]),
  );
  return { ...entry, features: { ...entry.features, ...features } };
}

function featuresOf(route: Route): Record<string, boolean> {
  return Object.fromEntries(
    FEATURES.map((feature) => [
      feature,
      (feature === "translation" && translatesByChat(route)) ||
        route.targets.some((target) => {
          const support = target.speech?.features[feature]?.support;
          return support !== undefined && (support !== "weak" || route.acceptWeak.includes(feature));
        }),
    ]),
  );
}

function translatesByChat({ translateViaChat, targets }: Route): boolean {
  return translateViaChat && CAPABILITIES.every((capability) => hasModelFor({ targets }, capability));
}

function hasModelFor({ targets }: Pick<Route, "targets">, capability: Capability): boolean {
  return targets.some((target) => isCapable(target, capability));
}

/** A purpose on a route without a model for the context counts as disabled, because a request with it falls back in the same way. */
function toEntry(purpose: Purpose, route: Route | undefined, served: readonly Capability[]): PurposeEntry {
  const isUsable = route !== undefined && served.some((capability) => hasModelFor(route, capability));
  return {
    purpose: purpose.label,
    description: purpose.description,
    is_enabled: purpose.isEnabled && isUsable,
  };
}

/** The first description of a label wins: the default context precedes the audio context. */
function unionByLabel(contexts: readonly RoutingEntry[]): PublishedPurpose[] {
  const byLabel = new Map<string, PublishedPurpose>();
  for (const { context, purposes } of contexts) {
    for (const entry of purposes) {
      const known = byLabel.get(entry.purpose) ?? { ...entry, contexts: [] };
      byLabel.set(entry.purpose, {
        ...known,
        is_enabled: known.is_enabled || entry.is_enabled,
        contexts: entry.is_enabled ? [...known.contexts, context] : known.contexts,
      });
    }
  }
  return [...byLabel.values()];
}
