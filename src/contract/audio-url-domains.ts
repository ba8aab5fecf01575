// The list of hosts for `audio.url` as a workspace's administrators see it [remote-audio.list-entries].
import { z } from "zod";
import { jsonWithEtag, optionalMatch } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";

/** Far above any limit on the list: how many it may hold, and whether each is a host name, is the setting's own judgement. */
const MAX_LISTED = 1_000;

export const audioUrlDomainsRequest = z.strictObject({
  domains: z
    .array(z.string())
    .max(MAX_LISTED)
    .describe(
      "The whole list: host names in ASCII, exact or with one leading `*.` for one label. Duplicates are folded. Empty refuses every URL that is not on the global list.",
    ),
});

export const audioUrlDomains = z.strictObject({
  object: z.literal("audio_url_domains"),
  domains: z.array(z.string()).describe("The workspace's own list, in the order given."),
  global_domains: z.array(z.string()).describe("What the operator allows to every workspace."),
  max_domains: z.int().min(0),
  updated_at: z.string().nullable().describe("RFC 3339, UTC; null before the first list."),
});
export type AudioUrlDomainsView = z.infer<typeof audioUrlDomains>;

const endpoint = {
  path: "/workspace/:tenant_id/audio-url-domains",
  auth: "key",
  responses: { 200: jsonWithEtag("The allowlist.", audioUrlDomains) },
} as const;

export const getAudioUrlDomainsContract: EndpointContract = {
  ...endpoint,
  method: "GET",
  operationId: "getAudioUrlDomains",
  summary: "Hosts that `audio.url` may name",
  errors: ["FORBIDDEN", "NOT_FOUND"],
};

export const putAudioUrlDomainsContract: EndpointContract = {
  ...endpoint,
  method: "PUT",
  operationId: "putAudioUrlDomains",
  summary: "Replace the hosts that `audio.url` may name",
  description:
    "All or nothing. Whatever is listed, the host must have public addresses only: private, loopback, link-local and metadata addresses are refused at every fetch.",
  requestBody: { json: audioUrlDomainsRequest },
  headers: optionalMatch,
  errors: ["FORBIDDEN", "NOT_FOUND", "PRECONDITION_FAILED", "BODY_TOO_LARGE"],
};
