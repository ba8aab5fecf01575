// /admin/v1/sandbox/faults: the faults that the simulated providers play, so that a fallback, a retry or a refusal can be seen without an
// account [cli.simulate].
import { z } from "zod";
import { json, operatorEndpoint } from "./admin.ts";
import type { EndpointContract } from "./endpoint.ts";
import { PROVIDER_KINDS } from "./provider-kinds.ts";

const MOST_FAULTS = 32;
const MOST_TIMES = 1_000_000;
const LONGEST_DELAY_MS = 600_000;

/** What a simulated answer can be made to lack. */
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

export const SIMULATED_PROVIDERS = z.enum(PROVIDER_KINDS).exclude(["sandbox"]);

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
  ])
  .describe(
    "`status`: that status, with the provider's own error. `delay`: an answer so much later. `stall`: no answer. `reset_after_body`: the connection breaks once all is sent, and what became of it is unknown. `garbage`: 200 with what is no answer. `empty`: nothing was said. `drop`: an answer without what was required.",
  );

export const sandboxFault = z.strictObject({
  provider: SIMULATED_PROVIDERS.optional().describe("Whose wire format; absent: all."),
  model: z.string().min(1).max(200).optional().describe("As the provider is told it; absent: all."),
  times: z.int().min(1).max(MOST_TIMES).optional().describe("How many calls are left; absent: until it is taken back."),
  failure,
});
export type SandboxFault = z.infer<typeof sandboxFault>;

export const sandboxFaultsRequest = z.strictObject({
  faults: z.array(sandboxFault).max(MOST_FAULTS).describe("In the place of all that are in force; empty: none."),
});

export const sandboxFaults = z.strictObject({ object: z.literal("sandbox_faults"), faults: z.array(sandboxFault) });
export type SandboxFaults = z.infer<typeof sandboxFaults>;

const PATH = "/sandbox/faults";

export const getSandboxFaultsContract: EndpointContract = operatorEndpoint({
  method: "GET",
  path: PATH,
  operationId: "getSandboxFaults",
  summary: "What the simulated providers do wrong",
  description: "Of this process: each has a sandbox of its own.",
  responses: { 200: json("The faults in force.", sandboxFaults) },
  errors: [],
});

export const putSandboxFaultsContract: EndpointContract = operatorEndpoint({
  method: "PUT",
  path: PATH,
  operationId: "replaceSandboxFaults",
  summary: "Let the simulated providers fail",
  description:
    "Of this process, until it ends. It concerns targets of the kind `sandbox` and requests with test keys, never a real provider.",
  requestBody: { json: sandboxFaultsRequest },
  responses: { 200: json("The faults in force.", sandboxFaults) },
  errors: ["BODY_TOO_LARGE"],
});
