// Lists every migration in order. Imported by name, so that sources and the built package work alike without scanning a folder.
import type { Migration } from "kysely/migration";
import * as foundation from "./0001-0019/0001-foundation.ts";
import * as jobs from "./0001-0019/0002-jobs.ts";
import * as webhooks from "./0001-0019/0003-webhooks.ts";
import * as audioUrl from "./0001-0019/0004-audio-url.ts";
import * as chat from "./0001-0019/0005-chat.ts";
import * as providerDeletions from "./0001-0019/0006-provider-deletions.ts";
import * as requests from "./0001-0019/0007-requests.ts";
import * as realtimeTokens from "./0001-0019/0008-realtime-tokens.ts";
import * as administration from "./0001-0019/0009-administration.ts";
import * as usageHours from "./0001-0019/0010-usage-hours.ts";
import * as dataKeys from "./0001-0019/0012-data-keys.ts";
import * as quotaCounts from "./0001-0019/0013-quota-counts.ts";
import * as speech from "./0001-0019/0014-speech.ts";
import * as routeVersions from "./0001-0019/0015-route-versions.ts";
import * as requestLists from "./0001-0019/0018-request-lists.ts";
import * as sealedUrls from "./0020-0039/0020-sealed-urls.ts";
import * as administratorsLists from "./0020-0039/0022-administrators-lists.ts";
import * as closedLeases from "./0020-0039/0024-closed-leases.ts";
import * as keyPepper from "./0020-0039/0025-key-pepper.ts";
import * as softLimits from "./0020-0039/0026-soft-limits.ts";
import * as connectionPauses from "./0020-0039/0027-connection-pauses.ts";
import * as grantKeys from "./0020-0039/0028-grant-keys.ts";
import * as simulatedJobs from "./0020-0039/0029-simulated-jobs.ts";
import * as urlFetches from "./0020-0039/0030-url-fetches.ts";
import * as providerFailures from "./0020-0039/0031-provider-failures.ts";
import * as alerts from "./0020-0039/0033-alerts.ts";
import * as modelLists from "./0020-0039/0035-model-lists.ts";
import * as spentAudio from "./0020-0039/0036-spent-audio.ts";

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-foundation": foundation,
  "0002-jobs": jobs,
  "0003-webhooks": webhooks,
  "0004-audio-url": audioUrl,
  "0005-chat": chat,
  "0006-provider-deletions": providerDeletions,
  "0007-requests": requests,
  "0008-realtime-tokens": realtimeTokens,
  "0009-administration": administration,
  "0010-usage-hours": usageHours,
  "0012-data-keys": dataKeys,
  "0013-quota-counts": quotaCounts,
  "0014-speech": speech,
  "0015-route-versions": routeVersions,
  "0018-request-lists": requestLists,
  "0020-sealed-urls": sealedUrls,
  "0022-administrators-lists": administratorsLists,
  "0024-closed-leases": closedLeases,
  "0025-key-pepper": keyPepper,
  "0026-soft-limits": softLimits,
  "0027-connection-pauses": connectionPauses,
  "0028-grant-keys": grantKeys,
  "0029-simulated-jobs": simulatedJobs,
  "0030-url-fetches": urlFetches,
  "0031-provider-failures": providerFailures,
  "0033-alerts": alerts,
  "0035-model-lists": modelLists,
  "0036-spent-audio": spentAudio,
};
