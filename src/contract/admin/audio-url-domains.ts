// Schemas and endpoints for GET and PUT /workspace/{tenant_id}/audio-url-domains: the hosts from which a workspace may fetch `audio.url`
// [remote-audio.list-entries]. How many are allowed is the limit `max_domains` of the response.
import { z } from "zod";
import { jsonWithEtag, optionalMatch } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";

/** Far above any configured limit: the number of entries and each host name are validated by the setting itself. */
const MAX_LISTED = 1_000;

export const audioUrlDomainsRequest = z.strictObject({
  domains: z
    .array(z.string())
    .max(MAX_LISTED)
    .describe(
      "The complete list: host names in ASCII, exact or with one leading `*.` for one label. Duplicates are merged. Empty: refuses every URL that is not on the global list.",
    ),
});

export const audioUrlDomains = z.strictObject({
  object: z.literal("audio_url_domains"),
  domains: z.array(z.string()).describe("The workspace's own list, in the given order."),
  global_domains: z.array(z.string()).describe("Hosts that the operator allows for every workspace."),
  max_domains: z.int().min(0),
  updated_at: z.string().nullable().describe("RFC 3339, UTC. Null before the first list."),
});
export type AudioUrlDomainsView = z.infer<typeof audioUrlDomains>;

const endpoint = {
  path: "/workspace/:tenant_id/audio-url-domains",
  auth: "key",
  role: "admin",
  responses: { 200: jsonWithEtag("The allowlist.", audioUrlDomains) },
} as const;

export const getAudioUrlDomainsContract: EndpointContract = {
  ...endpoint,
  method: "GET",
  operationId: "getAudioUrlDomains",
  summary: "Get the hosts allowed in `audio.url`",
  errors: ["NOT_FOUND"],
};

export const putAudioUrlDomainsContract: EndpointContract = {
  ...endpoint,
  method: "PUT",
  operationId: "putAudioUrlDomains",
  summary: "Replace the hosts allowed in `audio.url`",
  description:
    "Replaces the whole list or nothing. A listed host must still have public addresses only: private, loopback, link-local and metadata addresses are refused at every fetch.",
  requestBody: { json: audioUrlDomainsRequest },
  headers: optionalMatch,
  errors: ["NOT_FOUND", "PRECONDITION_FAILED", "BODY_TOO_LARGE"],
};
