// POST …/audio-url-domains/check: whether an address would be fetched as `audio.url`, rule by rule, without a fetch
// [remote-audio.check-no-side-effects].
import { z } from "zod";
import { json, mirrored } from "./admin.ts";

/** In the order of judgement. */
export const AUDIO_URL_RULES = ["scheme", "form", "port", "name", "listed", "not_itself", "public"] as const;
export type AudioUrlRule = (typeof AUDIO_URL_RULES)[number];

export const audioUrlCheckRequest = z.strictObject({
  url: z.string().min(1).max(16_384).describe("As an app would send it in `audio.url`. It is kept nowhere."),
});

const OPERATOR = "For the operator's key alone.";

const judgedRule = z.strictObject({
  rule: z.enum(AUDIO_URL_RULES),
  text: z.string().describe("What it asks; its wording may change."),
  outcome: z
    .enum(["met", "broken", "not_judged"])
    .describe("`not_judged`: what it is about could not be read, or is not asked while another rule is broken."),
  message: z.string().nullable().describe("Of a broken one: what a request with this address is told."),
  detail: z.string().nullable().describe(`Of a broken one: what was found. ${OPERATOR}`).optional(),
});

export const audioUrlCheck = z.strictObject({
  object: z.literal("audio_url_check"),
  allowed: z
    .boolean()
    .describe("No rule is broken: a request with this address is fetched, as far as the server behind it answers."),
  reason: z
    .enum(["malformed", "scheme", "port", "host_not_allowed", "address_not_public"])
    .nullable()
    .describe("`details.reason` of the `AUDIO_URL_REJECTED` that a request would meet: that of the first broken rule."),
  host: z.string().nullable().describe("As it was read; null where it could not be."),
  listed: z
    .strictObject({
      entry: z.string(),
      owner: z.enum(["workspace", "platform"]).describe("Whose list it stands on."),
    })
    .nullable()
    .describe("The entry that allows the host; null: none does."),
  rules: z.array(judgedRule).describe("All of them, in the order in which a fetch judges them."),
  addresses: z
    .array(z.string())
    .describe(`What the host resolves to now; empty where it was not asked. ${OPERATOR}`)
    .optional(),
});
export type AudioUrlCheck = z.infer<typeof audioUrlCheck>;

export const audioUrlCheckContracts = mirrored({
  method: "POST",
  path: "/audio-url-domains/check",
  operationId: "checkAudioUrl",
  summary: "Whether an address would be fetched",
  description:
    "Judged as `audio.url` of a request is, by the same rules in the same order, and nothing is connected to or fetched; any outcome is a 200. The host's name is resolved only where no rule before is broken, so for a listed host alone. Whether the server answers, declares a length and a supported type, and where it redirects to, shows only a fetch. Few at once of a workspace; more wait for their turn.",
  requestBody: { json: audioUrlCheckRequest },
  responses: { 200: json("What came of it.", audioUrlCheck) },
  errors: ["BODY_TOO_LARGE"],
});
