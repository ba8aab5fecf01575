// Converts routing settings and quotas of apps and keys between API and storage, and checks that the routes they reference exist.
import type { AppView } from "../contract/admin/apps.ts";
import type { DataPolicyRequirement } from "../contract/settings/data-policy.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { invalidRequests, type Issue } from "../contract/invalid-request.ts";
import { PLATFORM } from "../directory/snapshot.ts";
import { storedSettings } from "../directory/stored-schemas.ts";
import type { DatabaseTransaction } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import { listExistingRoutes } from "./store/route-references.ts";

/** The output of the API's schemas, in which purposes and quotas are already in camel case. */
export interface AppSettingsInput {
  readonly route: string | null;
  readonly audio_input_override: string | null;
  readonly audio_purpose_policy: "fallback" | "strict" | null;
  readonly default_purpose?: string | null;
  readonly purposes: readonly { readonly purpose: string; readonly route: string }[];
  readonly quota: object;
  readonly data_policy?: DataPolicyRequirement | null;
}

/** Returns the JSON that is stored. */
export function settingsToStore(input: AppSettingsInput): string {
  return JSON.stringify({
    route: input.route,
    audioInputOverride: input.audio_input_override,
    audioPurposePolicy: input.audio_purpose_policy,
    defaultPurpose: input.default_purpose ?? null,
    purposes: input.purposes,
    quota: input.quota,
    dataPolicy: input.data_policy ?? null,
  });
}

type SettingsView = Pick<
  AppView,
  "route" | "audio_input_override" | "audio_purpose_policy" | "default_purpose" | "purposes" | "quota" | "data_policy"
>;

export function shownSettings(stored: unknown): SettingsView {
  const settings = storedSettings.parse(stored);
  return {
    route: settings.route,
    audio_input_override: settings.audioInputOverride,
    audio_purpose_policy: settings.audioPurposePolicy,
    default_purpose: settings.defaultPurpose,
    purposes: settings.purposes.map(({ isEnabled, isPublished, dataPolicy, ...purpose }) => ({
      ...purpose,
      is_enabled: isEnabled,
      is_published: isPublished,
      data_policy: dataPolicy,
    })),
    quota: {
      requests_per_minute: settings.quota.requestsPerMinute,
      concurrent: settings.quota.concurrent,
      audio_seconds_per_hour: settings.quota.audioSecondsPerHour,
      tokens_per_minute: settings.quota.tokensPerMinute,
    },
    data_policy: settings.dataPolicy,
  };
}

/** Throws 400 with every reference to a missing route. The routes found cannot be deleted before the transaction ends, because it locks the directory. */
export async function refuseUnknownRoutes(
  tx: DatabaseTransaction,
  workspaceId: WorkspaceId,
  input: AppSettingsInput,
): Promise<void> {
  const references = [
    { param: "route", route: input.route },
    { param: "audio_input_override", route: input.audio_input_override },
    ...input.purposes.map(({ route }, at) => ({ param: `purposes[${at}].route`, route })),
  ].flatMap(({ param, route }) => (route === null ? [] : [{ param, route }]));
  const issues = duplicateIssues(input.purposes.map(({ purpose }) => purpose));
  if (references.length > 0) {
    await lockDirectory(tx);
    const routes = [...new Set(references.map(({ route }) => route))];
    const existing = await listExistingRoutes(tx, [PLATFORM, workspaceId], routes);
    for (const { param, route } of references)
      if (!existing.has(route)) issues.push({ param, message: `\`${param}\`: unknown route \`${route}\`.` });
  }
  if (issues.length > 0) throw invalidRequests(issues);
}

function duplicateIssues(labels: readonly string[]): Issue[] {
  return labels.flatMap((label, at) =>
    labels.indexOf(label) === at
      ? []
      : [{ param: `purposes[${at}].purpose`, message: `\`purposes[${at}].purpose\`: \`${label}\` already exists.` }],
  );
}
