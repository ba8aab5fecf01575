// The types of a principal, the identity behind a verified API key: key, app, workspace, role, quotas, routing settings. Built by `verify-key.ts`, read by
// the HTTP layer and the gateway.
import type { AppId, KeyId, WorkspaceId } from "../contract/ids.ts";
import type { DataPolicyRequirement } from "../contract/settings/data-policy.ts";
import type { Scope } from "../contract/scopes.ts";

export type Role = "member" | "admin" | "operator";

/** Limits of a key or an app, each optional. The smaller of the two applies. */
export interface Quota {
  readonly requestsPerMinute: number | null;
  readonly concurrent: number | null;
  readonly audioSecondsPerHour: number | null;
  readonly tokensPerMinute: number | null;
}

/** Stored routing settings of an app, or of a key that overrides its app's. Null: inherited. */
export interface RoutingSettings {
  readonly route: string | null;
  readonly audioInputOverride: string | null;
  readonly defaultPurpose: string | null;
  readonly audioPurposePolicy: "fallback" | "strict" | null;
  readonly purposes: readonly PurposeBinding[];
  /** Adds to the app's; it never replaces it. */
  readonly dataPolicy?: DataPolicyRequirement | null | undefined;
}

export interface PurposeBinding {
  readonly purpose: string;
  readonly description: string;
  readonly route: string;
  readonly isEnabled: boolean;
  readonly isPublished: boolean;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly dataPolicy?: DataPolicyRequirement | null | undefined;
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
  /** `plan`: null if the workspace has no credit check. */
  readonly workspace: { readonly id: WorkspaceId; readonly slug: string; readonly plan: string | null };
  /** Null for keys of administrators and operators, which belong to no app. */
  readonly app: AppInfo | null;
  readonly scopes: readonly Scope[];
  /** True for `svc_test_…` keys: every target is replaced by the sandbox, which speaks that target's wire format. */
  readonly testMode: boolean;
}

/** The stored part of a key. Whether the request used its test form is not stored. */
export type StoredKey = Omit<Principal, "testMode">;
