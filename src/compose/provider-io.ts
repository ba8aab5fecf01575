// Composes for `compose/app.ts` all outbound HTTP to providers or the sandbox, downloads of remote audio, and the check of a workspace's own provider
// address before it is stored.
import { DIALECTS } from "../../sandbox/openai/dialects.ts";
import type { FaultRule, Sandbox } from "../../sandbox/server.ts";
import { judgeOwnAddress } from "../admin/connections/own-address.ts";
import type { SetUpServices } from "../admin/set-up-scope.ts";
import { type ConnectionTestServices, MOST_TESTS } from "../admin/connections/test-connection.ts";
import { createRemoteAudio, type RemoteAudio } from "../audio/remote-audio.ts";
import type { Spool } from "../audio/spool.ts";
import type { Configuration } from "../config/configuration.ts";
import { type SandboxFault, sandboxFault } from "../contract/admin/sandbox-faults.ts";
import type { GatewayServices } from "../gateway/services.ts";
import type { SandboxLevers } from "../http/admin/sandbox/sandbox-levers.ts";
import { createJsonParser } from "../lib/json/json-parser.ts";
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { Outbound } from "../outbound/dial.ts";
import { createReplyMemory } from "../outbound/reply-memory.ts";
import { byokPolicy } from "../outbound/url-policy.ts";
import { createIo, type IoOptions } from "../providers/wire/make-io.ts";
import type { ReplyServices } from "../providers/wire/reply-terms.ts";
import { LOCAL_ADDRESS } from "../providers/local/local.ts";
import { createMemory } from "../providers/memory.ts";
import { accountProbes } from "../providers/registry.ts";
import type { Caches } from "./caches.ts";
import { readAudioUrlDomains } from "../directory/store/audio-url-domains.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { Logger } from "pino";
import type { ProviderKind } from "../providers/provider.ts";

interface OpenOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly logger: Logger;
}

interface OpenIoParts {
  readonly nowMs: () => number;
  readonly recognisers: NonNullable<IoOptions["recognisers"]>;
}

export function openIoOver(
  { byok }: Pick<Configuration, "byok">,
  { outbound, replies, nowMs, recognisers }: Pick<IoOptions, "outbound" | "replies"> & OpenIoParts,
): GatewayServices["openIo"] {
  const memory = createMemory(nowMs);
  const callerPolicy = byokPolicy(byok);
  return (request) =>
    createIo({
      ...request,
      outbound,
      replies,
      memory,
      nowMs,
      deadlineMs: request.timeoutMs,
      ...(request.isCallersAddress ? { callerPolicy } : {}),
      ...(request.baseUrl === LOCAL_ADDRESS ? { recognisers } : {}),
    });
}

/** Counts and parses all provider replies of the process. */
export function openReplies({ limits }: Pick<Configuration, "limits">): ReplyServices {
  return { memory: createReplyMemory({ totalBytes: limits.replyMemoryBytes }), parser: createJsonParser() };
}

/** For connection tests: their caches are separate from those of calls. */
export function connectionTestServices(
  gateway: GatewayServices,
  { configuration, database }: Pick<OpenOptions, "configuration" | "database">,
  way: Pick<IoOptions, "outbound" | "replies"> & Pick<OpenIoParts, "recognisers">,
  { refresh }: Pick<Caches, "refresh">,
): ConnectionTestServices {
  const { directory, providers, chatProviders, sandboxUrl: urlOf, now, modelClock, logger } = gateway;
  return {
    directory,
    providers,
    chatProviders,
    sandboxUrl: urlOf,
    now,
    modelClock,
    logger,
    database,
    openIo: openIoOver(configuration, { ...way, nowMs: () => now().getTime() }),
    refreshDirectory: () => refresh(),
    probes: accountProbes,
    places: createKeyedSemaphore({ ...MOST_TESTS, perKind: MOST_TESTS.total }),
  };
}

/** Where the sandbox speaks the wire format of a kind. Each dialect of a compatible server has its own path. */
export function sandboxUrl(sandbox: Sandbox, kind: ProviderKind, dialect: unknown): string {
  if (kind === "openai-compatible")
    return sandbox.compatibleUrl(DIALECTS.find((known) => known === dialect) ?? "openai");
  const urls: { readonly [K in Exclude<ProviderKind, "openai-compatible">]: string } = {
    sandbox: sandbox.origin,
    assemblyai: sandbox.assemblyaiUrl,
    deepgram: sandbox.deepgramUrl,
    anthropic: sandbox.anthropicUrl,
    gemini: sandbox.geminiUrl,
    // Models on this machine have no wire format, so their simulation uses the plainest.
    local: sandbox.deepgramUrl,
    elevenlabs: sandbox.elevenlabsUrl,
    "google-speech": sandbox.googleSpeechUrl,
    openai: sandbox.openaiUrl,
  };
  return urls[kind];
}

/** The sandbox's own name for the wire format of a compatible server. */
const COMPATIBLE = { kind: "openai-compatible", wire: "compatible" } as const;

export function sandboxLevers(sandbox: Pick<Sandbox, "faults" | "replaceFaults">): SandboxLevers {
  return {
    // Only those sandbox faults that the admin API can set.
    read: () => sandbox.faults().flatMap((rule) => sandboxFault.safeParse(leverOf(rule)).data ?? []),
    replace: (faults) => sandbox.replaceFaults(faults.map(ruleOf)),
  };
}

function ruleOf({ provider, model, times, failure }: SandboxFault): FaultRule {
  const wire = provider === COMPATIBLE.kind ? COMPATIBLE.wire : provider;
  if (failure.kind !== "status") return { wire, model, times, fault: failure };
  const { kind, status, retry_after_seconds: retryAfterSeconds } = failure;
  return { wire, model, times, fault: { kind, status, retryAfterSeconds } };
}

function leverOf({ wire, model, times, fault }: FaultRule): unknown {
  const provider = wire === COMPATIBLE.wire ? COMPATIBLE.kind : wire;
  if (fault.kind !== "status") return { provider, model, times, failure: fault };
  const { kind, status, retryAfterSeconds } = fault;
  return { provider, model, times, failure: { kind, status, retry_after_seconds: retryAfterSeconds } };
}

export function openRemoteAudio(
  { configuration, database, logger }: Omit<OpenOptions, "seal">,
  outbound: Outbound,
  spool: Spool,
): RemoteAudio {
  return createRemoteAudio({
    outbound,
    spool,
    domainsOf: async (workspaceId) => {
      const { own, platform } = await database.inWorkspace(workspaceId, (tx) => readAudioUrlDomains(tx, workspaceId));
      return [...own, ...platform];
    },
    allowedPorts: configuration.audioUrl.allowedPorts,
    maxRedirects: configuration.limits.maxAudioUrlRedirects,
    logger,
  });
}

export function setUpServices(
  { configuration, database, seal }: Omit<OpenOptions, "logger">,
  outbound: Outbound,
  { refresh, directory }: Pick<Caches, "refresh" | "directory">,
  modelClock: () => Date,
): SetUpServices {
  return {
    database,
    seal,
    refusedAddress: judgeOwnAddress(outbound, byokPolicy(configuration.byok)),
    refreshDirectory: () => refresh(),
    directory,
    modelClock,
  };
}
