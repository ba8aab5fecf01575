// How a call to a provider leaves this process: an account's own address, or the sandbox's; joined here for `app.ts`.
import { DIALECTS } from "../sandbox/compatible.ts";
import type { Sandbox } from "../sandbox/server.ts";
import type { Configuration } from "./config/configuration.ts";
import type { GatewayServices } from "./gateway/services.ts";
import type { Outbound } from "./outbound/dial.ts";
import { byokPolicy } from "./outbound/target-policy.ts";
import { createIo } from "./providers/make-io.ts";
import { createMemory } from "./providers/memory.ts";
import type { ProviderKind } from "./providers/provider.ts";

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
