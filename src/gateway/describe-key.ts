// GET /v1/me: what this key is, which purposes count where, and what can be asked (spec 2.4, 4.6; contract 4). Pure.
import type { Principal } from "../auth/principal.ts";
import type { KeyDescription } from "../contract/account.ts";
import { CAPABILITIES, CHAT_FEATURES, FEATURES } from "../contract/features.ts";
import { contextRouteOf, purposesOf } from "../routing/resolve-purpose.ts";
import { isCapable, type Purpose, type Route, type RoutingContext } from "../routing/types.ts";
import { seesNames } from "./refuse-route.ts";

type RoutingEntry = KeyDescription["routing_contexts"][number];
type PurposeEntry = KeyDescription["purposes"][number];

/** `context` is null for keys without an app (administrators, operators): they route nothing. */
export function describeKey(principal: Principal, context: RoutingContext | null): KeyDescription {
  const { key, workspace, app } = principal;
  const showTargets = seesNames(principal);
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
    purposes: unionByLabel(contexts.flatMap((entry) => entry.purposes)),
    routing_contexts: contexts,
  };
}

function routingContexts(context: RoutingContext, showTargets: boolean): RoutingEntry[] {
  return [
    { context: "default", ...withChatFeatures(describeRoute(context, context.route, showTargets), context.route) },
    {
      context: "audio_input",
      source: context.audioInputOverride === null ? "route" : "capability_override",
      ...describeRoute(context, contextRouteOf(context, "audio_input"), showTargets),
    },
  ];
}

function describeRoute(
  context: RoutingContext,
  route: Route,
  showTargets: boolean,
): Omit<RoutingEntry, "context" | "source"> {
  const capabilities = CAPABILITIES.filter((capability) =>
    route.targets.some((target) => isCapable(target, capability)),
  );
  const purposes = [...purposesOf(context, route).values()].filter((purpose) => purpose.isPublished).map(toEntry);
  const targets = route.targets.map(({ position, connection, provider, model }) => ({
    position,
    connection,
    provider,
    model,
  }));
  return { capabilities, features: featuresOf(route), purposes, ...(showTargets ? { targets } : {}) };
}

/** The key's own route is the one that chats. */
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
  return translateViaChat && CAPABILITIES.every((capability) => targets.some((each) => isCapable(each, capability)));
}

function toEntry(purpose: Purpose): PurposeEntry {
  return { purpose: purpose.label, description: purpose.description, is_enabled: purpose.isEnabled };
}

/** The first of a label stands: the default context comes before the audio one. */
function unionByLabel(entries: readonly PurposeEntry[]): PurposeEntry[] {
  const byLabel = new Map<string, PurposeEntry>();
  for (const entry of entries) if (!byLabel.has(entry.purpose)) byLabel.set(entry.purpose, entry);
  return [...byLabel.values()];
}
