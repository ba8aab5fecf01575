// The plain data that routing judges: routes, targets, purposes and keys. Built from configuration and storage, and immutable.
import type { Capability, Feature, Profile } from "../contract/features.ts";
import type { ChatModel } from "../providers/chat/chat-provider.ts";
import type { PolicyFact } from "../providers/data-policy/policy-fact.ts";
import type { ProviderKind, SpeechModel } from "../providers/provider.ts";
import type { RequiredDataPolicy } from "./data-policy.ts";

/** `<scope>/<connection id>`, where the scope is `platform` or a workspace id. */
export type AccountKey = string;

/** The owner of the account: the platform, the workspace (BYOK), or none (sandbox). */
export type Ownership = "platform" | "byok" | "simulated";

export interface Target {
  /** 1-based position in the route. Callers without `routing:read` see it instead of names. */
  readonly position: number;
  readonly connection: string;
  /** The stored account behind the connection in this workspace. Circuits and credentials belong to it. */
  readonly account: AccountKey;
  readonly ownership: Ownership;
  readonly provider: ProviderKind;
  readonly model: string;
  /** Null: the model accepts no audio. */
  readonly speech: SpeechModel | null;
  /** Null: the model does not chat. */
  readonly chat: ChatModel | null;
  /** Empty: serves every profile. */
  readonly profiles: readonly Profile[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** For chat: the longest wait for the first content. */
  readonly firstContentTimeoutMs: number;
  /** Set by its route: an answer by another model is a failed receipt [routing.exact-model]. */
  readonly requiresExactModel: boolean;
  readonly profileSettings: { readonly [P in Profile]?: Readonly<Record<string, unknown>> };
  /** What is proven about the handling of data. Absent: nothing. */
  readonly dataPolicy?: { readonly [C in Capability]?: readonly PolicyFact[] };
}

export interface Route {
  readonly id: string;
  /** The published version of these targets. Null: none is published. */
  readonly version: number | null;
  readonly targets: readonly Target[];
  readonly purposes: readonly Purpose[];
  readonly profileOverrideAllowed: boolean;
  readonly mayPayTwice: boolean;
  /** For chat: the next target may be tried after an unknown outcome, as long as no content was received. */
  readonly fallbackAfterUnknown: boolean;
  readonly acceptWeak: readonly Feature[];
  /** If no target translates, a chat target of the route translates the transcript. */
  readonly translateViaChat: boolean;
  /** Audio beyond a target's size or duration limit is sent in pieces, if that breaks no requested feature. */
  readonly splitLongAudio: boolean;
  /** What every target must prove. In a decision: everything that applies to the request. */
  readonly dataPolicy?: RequiredDataPolicy | null;
}

/** Values for fields that the request does not send [routing.purpose-defaults]. */
export type PurposeDefaults = Readonly<Record<string, unknown>>;

export interface Purpose {
  readonly label: string;
  readonly description: string;
  readonly isEnabled: boolean;
  readonly isPublished: boolean;
  /** The id of the route that the purpose selects. */
  readonly route: string;
  readonly defaults: PurposeDefaults;
  readonly dataPolicy?: RequiredDataPolicy | null;
}

export type PurposePolicy = "fallback" | "strict";

/** Whether the model of a target supports this kind of work. */
export function isCapable(target: Target, capability: Capability): boolean {
  return capability === "audio_input" ? target.speech !== null : target.chat !== null;
}

/** What a key resolves to: the settings of its app, overridden by its own [keys.inherit]. */
export interface RoutingContext {
  readonly route: Route;
  readonly audioInputOverride: Route | null;
  /** Bound by the key, then by the app. The published purposes of the context's route follow them. */
  readonly boundPurposes: readonly Purpose[];
  readonly defaultPurpose: string | null;
  readonly audioPurposePolicy: PurposePolicy;
  /** Of the app and the key. */
  readonly dataPolicy?: RequiredDataPolicy | null;
  /** Every route of the workspace, for purposes that select another route. */
  readonly routes: Pick<Routes, "get">;
}

/** Routes by their ids. */
export interface Routes {
  readonly get: (id: string) => Route | undefined;
  readonly values: () => Iterable<Route>;
}
