// Schemas and endpoints for /admin/v1/sandbox/faults: faults that the simulated providers inject, to show a fallback, a retry or a refusal without a
// provider account [cli.simulate].
import { z } from "zod";
import { json, operatorEndpoint } from "./admin.ts";
import type { EndpointContract } from "../endpoints/endpoint.ts";
import { PROVIDER_KINDS } from "../provider-kinds.ts";

const MOST_FAULTS = 32;
const MOST_TIMES = 1_000_000;
const LONGEST_DELAY_MS = 600_000;

/** Features that a simulated answer can omit. */
export const SIMULATED_DROPS = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "multichannel",
  "redaction",
  "keyterms",
  "profanity_filter",
  "tool_calls",
  "response_format",
] as const;

export const SIMULATED_PROVIDERS = z.enum(PROVIDER_KINDS).exclude(["local", "sandbox"]);

const failure = z
  .discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("status"),
      status: z.int().min(400).max(599),
      retry_after_seconds: z.int().min(0).max(86_400).optional(),
    }),
    z.strictObject({ kind: z.literal("delay"), ms: z.int().min(1).max(LONGEST_DELAY_MS) }),
    z.strictObject({ kind: z.literal("stall") }),
    z.strictObject({ kind: z.literal("reset_after_body") }),
    z.strictObject({ kind: z.literal("garbage") }),
    z.strictObject({ kind: z.literal("empty") }),
    z.strictObject({ kind: z.literal("drop"), feature: z.enum(SIMULATED_DROPS) }),
    z.strictObject({ kind: z.literal("other_model"), name: z.string().min(1).max(128) }),
  ])
  .describe(
    "`status`: this status, with the provider's own error. `delay`: a delayed answer. `stall`: no answer. `reset_after_body`: the connection breaks after the request was sent, so its outcome is unknown. `garbage`: 200 with an invalid body. `empty`: an answer without speech. `drop`: an answer without what was required. `other_model`: an answer by another model under the asked name, where the protocol reports one.",
  );

export const sandboxFault = z.strictObject({
  provider: SIMULATED_PROVIDERS.optional().describe("Provider with the affected wire format. Default: all."),
  model: z.string().min(1).max(200).optional().describe("Model as sent to the provider. Default: all."),
  times: z.int().min(1).max(MOST_TIMES).optional().describe("Remaining calls. Default: until it is removed."),
  failure,
});
export type SandboxFault = z.infer<typeof sandboxFault>;

export const sandboxFaultsRequest = z.strictObject({
  faults: z.array(sandboxFault).max(MOST_FAULTS).describe("Replaces all faults in force. Empty: none."),
});

export const sandboxFaults = z.strictObject({ object: z.literal("sandbox_faults"), faults: z.array(sandboxFault) });
export type SandboxFaults = z.infer<typeof sandboxFaults>;

const PATH = "/sandbox/faults";

export const getSandboxFaultsContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: PATH,
  operationId: "getSandboxFaults",
  summary: "List faults of the simulated providers",
  description: "Of this process: each process has its own sandbox.",
  responses: { 200: json("The faults in force.", sandboxFaults) },
  errors: [],
});

export const putSandboxFaultsContract: EndpointContract = operatorEndpoint({
  method: "PUT",
  path: PATH,
  operationId: "replaceSandboxFaults",
  summary: "Replace the faults of the simulated providers",
  description:
    "For this process, until it ends. Affects targets of the kind `sandbox` and requests with test keys, never a real provider.",
  requestBody: { json: sandboxFaultsRequest },
  responses: { 200: json("The faults in force.", sandboxFaults) },
  errors: ["BODY_TOO_LARGE"],
});
