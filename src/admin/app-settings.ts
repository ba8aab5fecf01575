// Converts routing settings and quotas of apps and keys between the API and storage, and checks that the routes they name exist.
import type { AppView } from "../contract/apps.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { invalidRequests, type Issue } from "../contract/invalid-request.ts";
import { PLATFORM } from "../directory/snapshot.ts";
import { storedSettings } from "../directory/stored.ts";
import type { Transacting } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";

/** As the API's schemas leave it: the members of a purpose and of a quota are in the program's spelling already. */
export interface GivenSettings {
  readonly route: string | null;
  readonly audio_input_override: string | null;
  readonly audio_purpose_policy: "fallback" | "strict" | null;
  readonly default_purpose?: string | null;
  readonly purposes: readonly { readonly purpose: string; readonly route: string }[];
  readonly quota: object;
}

/** The JSON that is kept. */
export function settingsToStore(given: GivenSettings): string {
  return JSON.stringify({
    route: given.route,
    audioInputOverride: given.audio_input_override,
    audioPurposePolicy: given.audio_purpose_policy,
    defaultPurpose: given.default_purpose ?? null,
    purposes: given.purposes,
    quota: given.quota,
  });
}

type ShownSettings = Pick<
  AppView,
  "route" | "audio_input_override" | "audio_purpose_policy" | "default_purpose" | "purposes" | "quota"
>;

export function shownSettings(stored: unknown): ShownSettings {
  const settings = storedSettings.parse(stored);
  return {
    route: settings.route,
    audio_input_override: settings.audioInputOverride,
    audio_purpose_policy: settings.audioPurposePolicy,
    default_purpose: settings.defaultPurpose,
    purposes: settings.purposes.map(({ isEnabled, isPublished, ...purpose }) => ({
      ...purpose,
      is_enabled: isEnabled,
      is_published: isPublished,
    })),
    quota: {
      requests_per_minute: settings.quota.requestsPerMinute,
      concurrent: settings.quota.concurrent,
      audio_seconds_per_hour: settings.quota.audioSecondsPerHour,
      tokens_per_minute: settings.quota.tokensPerMinute,
    },
  };
}

/** Throws 400 with every name that leads nowhere. What was found stays until the transaction ends: a named route is not removed. */
export async function refuseUnknownRoutes(
  tx: Transacting,
  workspaceId: WorkspaceId,
  given: GivenSettings,
): Promise<void> {
  const named = [
    { param: "route", route: given.route },
    { param: "audio_input_override", route: given.audio_input_override },
    ...given.purposes.map(({ route }, at) => ({ param: `purposes[${at}].route`, route })),
  ].flatMap(({ param, route }) => (route === null ? [] : [{ param, route }]));
  const issues = twice(given.purposes.map(({ purpose }) => purpose));
  if (named.length > 0) {
    await lockDirectory(tx);
    const rows = await tx
      .selectFrom("routes")
      .select("id")
      .where("scope", "in", [PLATFORM, workspaceId])
      .where("id", "in", [...new Set(named.map(({ route }) => route))])
      .execute();
    const known = new Set(rows.map(({ id }) => id));
    for (const { param, route } of named)
      if (!known.has(route)) issues.push({ param, message: `\`${param}\`: there is no route \`${route}\`.` });
  }
  if (issues.length > 0) throw invalidRequests(issues);
}

function twice(labels: readonly string[]): Issue[] {
  return labels.flatMap((label, at) =>
    labels.indexOf(label) === at
      ? []
      : [{ param: `purposes[${at}].purpose`, message: `\`purposes[${at}].purpose\`: \`${label}\` is there already.` }],
  );
}
