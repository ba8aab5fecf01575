// The faults that the simulated providers can inject, as text and as form fields.
import type { SandboxFault, SIMULATED_DROPS } from "../contract/admin/sandbox-faults.ts";
import { CONNECTION_KINDS } from "./connection-kinds.ts";
import type { Choice, PlainField } from "./plain-field.ts";

type Failure = SandboxFault["failure"];
type FaultKind = Failure["kind"];
type Provider = NonNullable<SandboxFault["provider"]>;

interface FaultWords {
  readonly title: string;
  readonly says: string;
  readonly fields: readonly PlainField[];
}

const DROPS: Readonly<Record<(typeof SIMULATED_DROPS)[number], string>> = {
  diarization: "speakers",
  "timestamps.word": "word timestamps",
  "timestamps.segment": "segment timestamps",
  multichannel: "channels",
  redaction: "redaction",
  keyterms: "key terms",
  profanity_filter: "masked profanity",
  tool_calls: "tool calls",
  response_format: "JSON",
};

export const FAULTS: Readonly<Record<FaultKind, FaultWords>> = {
  status: {
    title: "An error",
    says: "The provider returns this status with an error in its own format.",
    fields: [
      {
        kind: "number",
        name: "failure.status",
        label: "Status",
        hint: "400 to 599, for example 429 (rate limit), 401 (unauthorized), 500 or 503 (provider error).",
        isRequired: true,
        value: "503",
      },
      {
        kind: "number",
        name: "failure.retry_after_seconds",
        label: "Retry-After, in seconds",
        hint: "Sent by the provider with a 429 or 503.",
      },
    ],
  },
  delay: {
    title: "A slow answer",
    says: "The response is delayed.",
    fields: [
      {
        kind: "number",
        name: "failure.ms",
        label: "Delay in milliseconds",
        hint: "At most 600000 (ten minutes).",
        isRequired: true,
        value: "5000",
      },
    ],
  },
  stall: { title: "No answer", says: "The provider accepts the request and never responds.", fields: [] },
  reset_after_body: {
    title: "A broken connection",
    says: "The connection breaks after the request was sent, so its outcome is unknown.",
    fields: [],
  },
  garbage: { title: "Garbage", says: "A 200 with an invalid body.", fields: [] },
  empty: { title: "Empty transcript", says: "A valid response without any words.", fields: [] },
  drop: {
    title: "A missing feature",
    says: "The response lacks a requested feature.",
    fields: [
      {
        kind: "select",
        name: "failure.feature",
        label: "Missing feature",
        choices: Object.entries(DROPS),
        isRequired: true,
      },
    ],
  },
  other_model: {
    title: "Another model",
    says: "Another model answers under the requested name, if the protocol reports one.",
    fields: [
      {
        kind: "text",
        name: "failure.name",
        label: "Model that answers",
        placeholder: "gemini-3.6-flash",
        isRequired: true,
      },
    ],
  },
};

export const FAULT_CHOICES: readonly Choice[] = Object.entries(FAULTS).map(([kind, { title }]) => [kind, title]);

export const isFaultKind = (kind: string): kind is FaultKind => Object.hasOwn(FAULTS, kind);

/** Represents all providers. */
export const ALL = "all";

export function fieldsOf(kind: FaultKind): readonly PlainField[] {
  return [
    ...FAULTS[kind].fields,
    {
      kind: "select",
      name: "provider",
      label: "Simulated provider",
      hint: "simulated-speech uses Deepgram's protocol, simulated-chat OpenAI's.",
      choices: [[ALL, "All"], ...PROVIDERS.map((provider) => [provider, titleOf(provider)] as const)],
      isRequired: true,
    },
    {
      kind: "text",
      name: "model",
      label: "Model",
      hint: "The provider's model name, for example simulated-speech or nova-3. Empty: all.",
      placeholder: "simulated-speech",
    },
    {
      kind: "number",
      name: "times",
      label: "Number of calls",
      hint: "The fault ends after this many calls. Empty: until removed.",
      value: "1",
    },
  ];
}

const PROVIDERS = Object.keys(CONNECTION_KINDS).filter(
  (kind) => kind !== "sandbox" && kind !== "local",
) as readonly Provider[];

export const titleOf = (provider: Provider): string => CONNECTION_KINDS[provider].title;

export function wordsOf(failure: Failure): string {
  const { title } = FAULTS[failure.kind];
  if (failure.kind === "status") {
    const wait = failure.retry_after_seconds === undefined ? "" : `, Retry-After ${failure.retry_after_seconds} s`;
    return `HTTP ${failure.status}${wait}`;
  }
  if (failure.kind === "delay") return `${title}, ${failure.ms} ms later`;
  if (failure.kind === "other_model") return `${title}: ${failure.name}`;
  return failure.kind === "drop" ? `${title}: ${DROPS[failure.feature]}` : title;
}
