// Schemas of the settings of apps and keys (role, quotas, budgets, routing), shared by the configuration file and the admin API [admin.app-settings].
import { z } from "zod";
import { dataPolicyRequirement } from "./data-policy.ts";
import { MONEY_PATTERN, MONEY_RULE } from "../names.ts";
import { SCOPES } from "../scopes.ts";
import { givenTime } from "../times.ts";
import { PURPOSE_POLICY } from "../transcription/transcription-fields.ts";
import { ID, optionalOrNull, PURPOSE_LABEL, section } from "./kit.ts";
import { purposeSection, routeReference } from "./route.ts";

export const ROLES = ["member", "admin"] as const;

export const MONEY = z
  .string({ error: 'must be a decimal in quotes, such as "50.00" (a bare number loses digits)' })
  .regex(MONEY_PATTERN, MONEY_RULE);

const figure = optionalOrNull(z.int().min(1));
const time = givenTime('must be a time such as "2027-01-31T00:00:00Z"');

export const quotaSection = section({
  requests_per_minute: figure.describe("Requests started per minute."),
  concurrent: figure.describe("Maximum concurrent requests."),
  audio_seconds_per_hour: figure.describe("Seconds of audio submitted per hour."),
  tokens_per_minute: figure.describe("Chat tokens per minute."),
});

export const PERIODS = ["day", "month", "total"] as const;

export const budgetLimits = {
  limit_usd: optionalOrNull(MONEY).describe("Maximum money, as a decimal in quotes."),
  limit_audio_seconds: figure.describe("Maximum seconds of audio."),
  limit_tokens: figure.describe("Maximum chat tokens."),
  soft_limit: optionalOrNull(z.number().gt(0).lt(1)).describe(
    "Fraction of each limit from which budget reports contain `soft_limit_reached`, with one log entry per period. No request is refused for it.",
  ),
};

export const nameField = optionalOrNull(z.string().min(1).max(100)).describe("Display name.");
export const expiryField = optionalOrNull(time).describe("When the key expires.");

export const appFields = {
  name: nameField,
  route: ID.describe("Route of the app's requests."),
  audio_input_override: routeReference.describe("Route of audio requests, instead of `route`."),
  audio_purpose_policy: PURPOSE_POLICY.default("fallback").describe("What happens if an audio purpose cannot be used."),
  default_purpose: optionalOrNull(PURPOSE_LABEL).describe("Purpose of requests that name none."),
  purposes: z.array(purposeSection).default([]).describe("Purposes bound to this app, added to each of its routes."),
  quota: quotaSection.prefault({}).describe("Quota of the whole app."),
  data_policy: optionalOrNull(dataPolicyRequirement).describe(
    "What providers must guarantee about the data of the app's requests.",
  ),
};

export const keyFields = {
  scopes: z.array(z.enum(SCOPES)).default(["transcribe", "chat", "jobs"]).describe("Permissions of the key."),
  expires_at: expiryField,
  route: routeReference.describe("Route that overrides the app's."),
  audio_input_override: routeReference.describe("Route of audio requests that overrides the app's."),
  purposes: z.array(purposeSection).default([]).describe("Purposes bound to this key only."),
  audio_purpose_policy: optionalOrNull(PURPOSE_POLICY).describe(
    "Policy that overrides the app's; the stricter of this and the request's applies.",
  ),
  quota: quotaSection.prefault({}).describe("Quota of this key; the smaller of this and the app's applies."),
};
export const roleField = z.enum(ROLES).default("member").describe("`admin` also administers the workspace.");
