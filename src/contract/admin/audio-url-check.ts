// Schemas and endpoints for POST …/audio-url-domains/check: whether an address would be accepted as `audio.url`, checked rule by rule without a fetch
// [remote-audio.check-no-side-effects].
import { z } from "zod";
import { json, mirrorForOperator } from "./admin.ts";

/** In the order in which they are checked. */
export const AUDIO_URL_RULES = ["scheme", "form", "port", "name", "listed", "not_itself", "public"] as const;
export type AudioUrlRule = (typeof AUDIO_URL_RULES)[number];

export const audioUrlCheckRequest = z.strictObject({
  url: z.string().min(1).max(16_384).describe("As an app would send it in `audio.url`. It is not stored."),
});

const OPERATOR = "Only for operator keys.";

const judgedRule = z.strictObject({
  rule: z.enum(AUDIO_URL_RULES),
  text: z.string().describe("Question that the rule answers. Its wording may change."),
  outcome: z
    .enum(["met", "broken", "not_judged"])
    .describe("`not_judged`: its input could not be read, or an earlier rule is broken."),
  message: z.string().nullable().describe("If broken: the message that a request with this address would receive."),
  detail: z.string().nullable().describe(`If broken: what was found. ${OPERATOR}`).optional(),
});

export const audioUrlCheck = z.strictObject({
  object: z.literal("audio_url_check"),
  allowed: z
    .boolean()
    .describe("No rule is broken: a request with this address would be fetched, provided that its server answers."),
  reason: z
    .enum(["malformed", "scheme", "port", "host_not_allowed", "address_not_public"])
    .nullable()
    .describe(
      "`details.reason` of the `AUDIO_URL_REJECTED` error that a request would receive, from the first broken rule.",
    ),
  host: z.string().nullable().describe("As parsed. Null: it could not be parsed."),
  listed: z
    .strictObject({
      entry: z.string(),
      owner: z.enum(["workspace", "platform"]).describe("Owner of the list that contains it."),
    })
    .nullable()
    .describe("The entry that allows the host. Null: none."),
  rules: z.array(judgedRule).describe("All rules, in the order in which a fetch checks them."),
  addresses: z
    .array(z.string())
    .describe(`Addresses to which the host resolves now. Empty: not resolved. ${OPERATOR}`)
    .optional(),
});
export type AudioUrlCheck = z.infer<typeof audioUrlCheck>;

export const audioUrlCheckContracts = mirrorForOperator({
  method: "POST",
  path: "/audio-url-domains/check",
  operationId: "checkAudioUrl",
  summary: "Check whether an address would be fetched",
  description:
    "Checks the address like the `audio.url` of a request, by the same rules in the same order, without connecting to it. Every outcome is a 200. The host is resolved only if no earlier rule is broken, so only for a listed host. Only a real fetch shows whether the server answers, declares a length and a supported type, and where it redirects. The number of concurrent checks per workspace is limited; others wait.",
  requestBody: { json: audioUrlCheckRequest },
  responses: { 200: json("The result.", audioUrlCheck) },
  errors: ["BODY_TOO_LARGE"],
});
