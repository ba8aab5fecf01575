// What goes out by way of the one door, joined here for `app.ts`: calls to accounts' addresses or the sandbox's, fetches of remote
// audio, and the judgement of an own address before it is kept.
import { DIALECTS } from "../sandbox/compatible.ts";
import type { Sandbox } from "../sandbox/server.ts";
import { judgeOwnAddress } from "./admin/own-address.ts";
import type { SetUpServices } from "./admin/set-up-scope.ts";
import { createRemoteAudio, type RemoteAudio } from "./audio/remote-audio.ts";
import type { Spool } from "./audio/spool.ts";
import type { Configuration } from "./config/configuration.ts";
import type { GatewayServices } from "./gateway/services.ts";
import type { Outbound } from "./outbound/dial.ts";
import { byokPolicy } from "./outbound/target-policy.ts";
import { createIo } from "./providers/make-io.ts";
import { createMemory } from "./providers/memory.ts";
import type { Remembered } from "./open-remembered.ts";
import { readAudioUrlDomains } from "./storage/audio-url-domains.ts";
import type { Database } from "./storage/database.ts";
import type { Seal } from "./storage/seal.ts";
import type { Logger } from "pino";
import type { ProviderKind } from "./providers/provider.ts";

interface OpenOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly logger: Logger;
}

export function openIoOver(
  { byok }: Pick<Configuration, "byok">,
  outbound: Outbound,
  nowMs: () => number,
): GatewayServices["openIo"] {
  const memory = createMemory(nowMs);
  const callerPolicy = byokPolicy(byok);
  return ({ timeoutMs, isCallersAddress, ...request }) =>
    createIo({ outbound, memory, deadlineMs: timeoutMs, ...request, ...(isCallersAddress ? { callerPolicy } : {}) });
}

/** Where the sandbox speaks a kind's wire format; of compatible servers each dialect has its own place. */
export function sandboxUrl(sandbox: Sandbox, kind: ProviderKind, dialect: unknown): string | null {
  if (kind === "openai-compatible")
    return sandbox.compatibleUrl(DIALECTS.find((known) => known === dialect) ?? "openai");
  const urls: { readonly [K in ProviderKind]?: string } = {
    sandbox: sandbox.origin,
    assemblyai: sandbox.assemblyaiUrl,
    deepgram: sandbox.deepgramUrl,
    anthropic: sandbox.anthropicUrl,
    gemini: sandbox.geminiUrl,
    elevenlabs: sandbox.elevenlabsUrl,
    "google-speech": sandbox.googleSpeechUrl,
    openai: sandbox.openaiUrl,
  };
  return urls[kind] ?? null;
}

export function openRemoteAudio(
  { configuration, database, logger }: Pick<OpenOptions, "configuration" | "database" | "logger">,
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
  { configuration, database, seal }: Pick<OpenOptions, "configuration" | "database" | "seal">,
  outbound: Outbound,
  { refresh }: Pick<Remembered, "refresh">,
): SetUpServices {
  return {
    database,
    seal,
    refusedAddress: judgeOwnAddress(outbound, byokPolicy(configuration.byok)),
    refreshDirectory: () => refresh(),
  };
}
