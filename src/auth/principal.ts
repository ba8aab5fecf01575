// The caller that a verified key stands for. Built by verify-key, read by the HTTP layer and the gateway.
import type { AppId, KeyId, WorkspaceId } from "../contract/ids.ts";
import type { Scope } from "../contract/scopes.ts";

export type Role = "member" | "admin" | "operator";

/** Limits of a key or an app; each optional. The smaller of the two applies. */
export interface Quota {
  readonly requestsPerMinute: number | null;
  readonly concurrent: number | null;
  readonly audioSecondsPerHour: number | null;
  readonly tokensPerMinute: number | null;
}

/** Routing settings as stored: of an app, or a key's own on top of it (null: inherited). */
export interface RoutingSettings {
  readonly route: string | null;
  readonly audioInputOverride: string | null;
  readonly defaultPurpose: string | null;
  readonly audioPurposePolicy: "fallback" | "strict" | null;
  readonly purposes: readonly PurposeBinding[];
}

export interface PurposeBinding {
  readonly purpose: string;
  readonly description: string;
  readonly route: string;
  readonly isEnabled: boolean;
  readonly isPublished: boolean;
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface KeyInfo {
  readonly id: KeyId;
  readonly prefix: string;
  readonly last4: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly quota: Quota;
  readonly routing: RoutingSettings;
}

export interface AppInfo {
  readonly id: AppId;
  readonly name: string;
  readonly quota: Quota;
  readonly routing: RoutingSettings;
}

export interface Principal {
  readonly key: KeyInfo;
  /** `plan`: null for a workspace without a credit check. */
  readonly workspace: { readonly id: WorkspaceId; readonly slug: string; readonly plan: string | null };
  /** null for administrators' and operators' keys, which belong to no app. */
  readonly app: AppInfo | null;
  readonly scopes: readonly Scope[];
  /** `svc_test_…`: every target is replaced by the sandbox speaking that target's wire format. */
  readonly testMode: boolean;
}

/** What is stored of a key; whether it was sent as a test key is not. */
export type StoredKey = Omit<Principal, "testMode">;
