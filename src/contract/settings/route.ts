// Schemas of the settings of routes, shared by the configuration file and the admin API [configuration.route-targets]: targets in order, published purposes,
// and options such as `may_pay_twice`, `split_long_audio` and `translate_via_chat`.
import { z } from "zod";
import { dataPolicyRequirement } from "./data-policy.ts";
import { FEATURES, PROFILES } from "../features.ts";
import { transcriptionFields } from "../transcription/transcription-fields.ts";
import { ID, optionalOrNull, MODEL, PURPOSE_LABEL, section } from "./kit.ts";

const settingsMap = z.record(z.string(), z.unknown());

/** A purpose cannot preset how a request is routed or answered, which is the caller's choice; it may preset all other fields. */
const purposeDefaults = transcriptionFields
  .omit({
    mode: true,
    stream: true,
    dry_run: true,
    purpose: true,
    purpose_policy: true,
    response_profile: true,
    data_policy: true,
  })
  .describe("Defaults for request fields.");

export const purposeSection = section({
  purpose: PURPOSE_LABEL.describe("The label that callers send."),
  description: z.string().max(500).default("").describe("Shown in `GET /v1/me`."),
  route: ID.describe("The route this purpose selects."),
  is_enabled: z.boolean().default(true).describe("A disabled purpose is not applied."),
  is_published: z.boolean().default(true).describe("An unpublished purpose is not listed and not applied."),
  defaults: purposeDefaults.prefault({}),
  data_policy: optionalOrNull(dataPolicyRequirement).describe(
    "What providers must guarantee about the data of requests with this purpose.",
  ),
});

export const targetSection = z
  .strictObject({
    connection: ID.describe("Id of the connection to call."),
    model: MODEL.describe("Model on that connection."),
    profiles: z.array(z.enum(PROFILES)).default([]).describe("Response profiles that it serves; none listed: all."),
    settings: settingsMap
      .default({})
      .describe("Settings for the provider; under `fast`, `balanced` or `deep` those of one profile."),
    first_content_timeout_seconds: z
      .int()
      .min(1)
      .max(3_600)
      .default(300)
      .describe("Chat streams: timeout of the first content."),
  })
  .transform((target, context) => {
    const profileSettings: { [P in (typeof PROFILES)[number]]?: Record<string, unknown> } = {};
    const settings: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(target.settings)) {
      const profile = PROFILES.find((name) => name === key);
      if (profile === undefined) {
        settings[key] = value;
        continue;
      }
      const parsed = settingsMap.safeParse(value);
      if (parsed.success) profileSettings[profile] = parsed.data;
      else
        context.addIssue({
          code: "custom",
          path: ["settings", key],
          message: "must be a map: the settings of this profile",
        });
    }
    return {
      connection: target.connection,
      model: target.model,
      profiles: target.profiles,
      settings,
      profileSettings,
      firstContentTimeoutSeconds: target.first_content_timeout_seconds,
    };
  });

/** Per route. */
export const MAX_TARGETS = 20;

const routeShape = {
  id: ID.describe("Name by which apps, keys and purposes refer to the route."),
  targets: z
    .array(targetSection)
    .min(1, "must list at least one target")
    .max(MAX_TARGETS, `must list at most ${MAX_TARGETS} targets`)
    .describe("Models in the order of fallback."),
  purposes: z
    .array(purposeSection)
    .default([])
    .describe("Purposes this route publishes to every app it is assigned to."),
  profile_override_allowed: z.boolean().default(true).describe("Whether a request may send `response_profile`."),
  may_pay_twice: z
    .boolean()
    .default(false)
    .describe("Try the next target after an unknown outcome of an audio call, which may be paid twice."),
  fallback_after_unknown: z
    .boolean()
    .default(true)
    .describe("Chat: try the next target after an unknown outcome with no content received."),
  accept_weak: z.array(z.enum(FEATURES)).default([]).describe("Features for which a weak emulation is accepted."),
  split_long_audio: z
    .boolean()
    .default(false)
    .describe("Split audio beyond a model's size or duration at pauses, and join the transcripts."),
  translate_via_chat: z.boolean().default(false).describe("Translate by a chat target if no audio target translates."),
  data_policy: optionalOrNull(dataPolicyRequirement).describe(
    "What every target must guarantee about the data; targets without proof are not eligible.",
  ),
  require_exact_model: z
    .boolean()
    .default(false)
    .describe("Withhold an answer by another model than the one asked, and try the next target."),
};

export const routeSection = section(routeShape);

/** Of every change that can bring a target into use. It is not stored. */
export const confirmEnding = z
  .boolean()
  .default(false)
  .describe("Accept targets whose model has ended, or ends in fewer than 30 days, by its provider's own evidence.");

/** The body of the admin API. */
export const routeRequest = section({ ...routeShape, confirm_ending: confirmEnding });

/** A reference to an optional route. */
export const routeReference = optionalOrNull(ID);

export type ParsedRoute = z.output<typeof routeSection>;
export type ParsedRouteRequest = z.output<typeof routeRequest>;
