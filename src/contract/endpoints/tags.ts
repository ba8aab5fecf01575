// Groups of endpoints, for the OpenAPI document and the API reference.
import type { EndpointContract } from "./endpoint.ts";

export interface Tag {
  readonly name: string;
  readonly description: string;
  /** Matches the paths of its endpoints. */
  readonly paths: RegExp;
}

/** The first tag that matches a path is the endpoint's. */
export const TAGS: readonly Tag[] = [
  {
    name: "Jobs",
    description: "Durable transcription of long recordings.",
    paths: /\/(?:transcription\/(?:jobs|results)|jobs|provider-deletions)/u,
  },
  { name: "Live audio", description: "Transcription while somebody speaks.", paths: /\/transcription\/realtime/u },
  {
    name: "Transcription",
    description: "Speech to text in one request.",
    paths: /^\/v1\/(?:transcription|translation)/u,
  },
  { name: "Chat", description: "Conversations with chat models.", paths: /^\/v1\/chat$/u },
  {
    name: "OpenAI-compatible",
    description: "The same for clients of OpenAI's API.",
    paths: /^\/v1\/(?:chat\/completions|audio|models)/u,
  },
  { name: "Tools", description: "Tools for Model Context Protocol clients.", paths: /^\/mcp/u },
  {
    name: "Account",
    description: "What the caller's key may do, has done and has spent.",
    paths: /^\/v1\/(?:me|melimits|requests|usage)/u,
  },
  { name: "Webhook", description: "Signed events when jobs end.", paths: /\/(?:stt-webhook|deliveries)/u },
  { name: "Budgets and plans", description: "Limits of spending.", paths: /\/(?:budgets|credits|plans)/u },
  { name: "Keys", description: "API keys of a workspace.", paths: /\/keys/u },
  { name: "Apps", description: "Applications of a workspace.", paths: /\/apps/u },
  { name: "Audio URLs", description: "Hosts from which audio may be fetched.", paths: /\/audio-url-domains/u },
  { name: "Requests and usage", description: "The request log and usage.", paths: /\/(?:requests|usage)/u },
  { name: "Audit", description: "Who changed what.", paths: /\/audit/u },
  { name: "Connections", description: "Provider accounts.", paths: /\/(?:connections|pauses|health\/providers)/u },
  { name: "Routes", description: "Which providers and models serve a request.", paths: /\/(?:routes|models|explain)/u },
  { name: "Workspaces", description: "Tenants of the gateway.", paths: /\/workspaces/u },
  {
    name: "Operations",
    description: "Health, metrics, configuration and simulated faults.",
    paths: /^\/(?:healthz|readyz|metrics|admin\/)/u,
  },
  { name: "Pages", description: "Pages for browsers, and documents for programs.", paths: /^\//u },
];

export function tagOf({ path }: Pick<EndpointContract, "path">): Tag {
  const tag = TAGS.find(({ paths }) => paths.test(path));
  if (tag === undefined) throw new Error(`no tag for ${path}`);
  return tag;
}
