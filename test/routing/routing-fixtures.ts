// Small routes, targets and contexts for tables over the pure routing rules.
import type { Feature } from "../../src/contract/features.ts";
import type { ChatModel } from "../../src/providers/chat/chat-provider.ts";
import type { FeatureSupport, SpeechModel } from "../../src/providers/provider.ts";
import type { Purpose, Route, RoutingContext, Target } from "../../src/routing/types.ts";

export function model(
  features: { readonly [F in Feature]?: FeatureSupport } = {},
  rest: Partial<SpeechModel> = {},
): SpeechModel {
  return { features, preferences: ["language"], limits: {}, languages: "any", defaultLanguage: "auto", ...rest };
}

export function speechTarget(position: number, speech: SpeechModel = model(), rest: Partial<Target> = {}): Target {
  return {
    position,
    connection: `c${position}`,
    account: `platform/c${position}`,
    ownership: "platform",
    provider: "deepgram",
    model: `m${position}`,
    speech,
    chat: null,
    profiles: [],
    settings: {},
    firstContentTimeoutMs: 300_000,
    requiresExactModel: false,
    profileSettings: {},
    ...rest,
  };
}

const TEXT_MODEL: ChatModel = { features: [], preferences: [], limits: {} };

export function textTarget(position: number): Target {
  return { ...speechTarget(position), speech: null, chat: TEXT_MODEL };
}

export function route(id: string, targets: readonly Target[], rest: Partial<Route> = {}): Route {
  return {
    id,
    targets,
    purposes: [],
    profileOverrideAllowed: true,
    mayPayTwice: false,
    fallbackAfterUnknown: true,
    acceptWeak: [],
    translateViaChat: false,
    splitLongAudio: false,
    version: 1,
    ...rest,
  };
}

export function purpose(label: string, routeId: string, rest: Partial<Purpose> = {}): Purpose {
  return { label, description: "", isEnabled: true, isPublished: true, route: routeId, defaults: {}, ...rest };
}

export function audioContext(own: Route, routes: readonly Route[], rest: Partial<RoutingContext> = {}): RoutingContext {
  return {
    route: own,
    audioInputOverride: null,
    boundPurposes: [],
    defaultPurpose: null,
    audioPurposePolicy: "fallback",
    routes: new Map(routes.map((each) => [each.id, each])),
    ...rest,
  };
}
