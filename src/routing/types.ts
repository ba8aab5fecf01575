// The plain data that routing judges: routes, targets, purposes, keys. Built from configuration and storage, never changed in place.
import type { Capability, Feature, Profile } from "../contract/features.ts";
import type { ChatModel } from "../providers/chat/chat-provider.ts";
import type { ProviderKind, SpeechModel } from "../providers/provider.ts";

/** `<scope>/<connection id>`; scope is `platform` or a workspace id. */
export type AccountKey = string;

/** Whose account pays: the platform's, the workspace's own (BYOK), or nobody (sandbox). */
export type Ownership = "platform" | "byok" | "simulated";

export interface Target {
  /** 1-based place in the route: what callers without `routing:read` see. */
  readonly position: number;
  readonly connection: string;
  /** The stored account behind the connection, for this workspace: circuits and credentials hang on it. */
  readonly account: AccountKey;
  readonly ownership: Ownership;
  readonly provider: ProviderKind;
  readonly model: string;
  /** null: the model takes no audio. */
  readonly speech: SpeechModel | null;
  /** null: the model does not chat. */
  readonly chat: ChatModel | null;
  /** Empty: serves every profile. */
  readonly profiles: readonly Profile[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Chat: longest wait for the first content. */
  readonly firstContentTimeoutMs: number;
  readonly profileSettings: { readonly [P in Profile]?: Readonly<Record<string, unknown>> };
}

export interface Route {
  readonly id: string;
  /** The published version these targets are from; null: there is none. */
  readonly version: number | null;
  readonly targets: readonly Target[];
  readonly purposes: readonly Purpose[];
  readonly profileOverrideAllowed: boolean;
  readonly mayPayTwice: boolean;
  /** Chat: the next target may be tried after an unknown outcome, as long as no content was received. */
  readonly fallbackAfterUnknown: boolean;
  readonly acceptWeak: readonly Feature[];
  /** Where no target translates, a chat target of the route translates the transcript. */
  readonly translateViaChat: boolean;
  /** Audio beyond a target's size or duration is sent to it in pieces, where that costs nothing that was asked. */
  readonly splitLongAudio: boolean;
}

/** Fields that a purpose may fill in where the request does not send them [routing.purpose-defaults]. */
export type PurposeDefaults = Readonly<Record<string, unknown>>;

export interface Purpose {
  readonly label: string;
  readonly description: string;
  readonly isEnabled: boolean;
  readonly isPublished: boolean;
  /** Route id the purpose selects. */
  readonly route: string;
  readonly defaults: PurposeDefaults;
}

export type PurposePolicy = "fallback" | "strict";

/** Whether the model behind a target takes this kind of work at all. */
export function isCapable(target: Target, capability: Capability): boolean {
  return capability === "audio_input" ? target.speech !== null : target.chat !== null;
}

/** What a key resolves to: its app's settings, overridden by its own [keys.inherit]. */
export interface RoutingContext {
  readonly route: Route;
  readonly audioInputOverride: Route | null;
  /** Bound by key and app, in that order; the context's route adds its published ones behind them. */
  readonly boundPurposes: readonly Purpose[];
  readonly defaultPurpose: string | null;
  readonly audioPurposePolicy: PurposePolicy;
  /** Every route the workspace can name, for purposes that point elsewhere. */
  readonly routes: ReadonlyMap<string, Route>;
}
