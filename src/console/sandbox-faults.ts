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
  "timestamps.word": "times of words",
  "timestamps.segment": "times of segments",
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
    says: "The provider answers with this status and its own error.",
    fields: [
      {
        kind: "number",
        name: "failure.status",
        label: "Status",
        hint: "400 to 599. 429: too many requests. 401: refused. 500 and 503: trouble of its own.",
        isRequired: true,
        value: "503",
      },
      {
        kind: "number",
        name: "failure.retry_after_seconds",
        label: "Retry-After, in seconds",
        hint: "What the provider says with a 429 or 503.",
      },
    ],
  },
  delay: {
    title: "A slow answer",
    says: "The answer comes, so much later.",
    fields: [
      {
        kind: "number",
        name: "failure.ms",
        label: "How much later, in milliseconds",
        hint: "At most 600000, ten minutes.",
        isRequired: true,
        value: "5000",
      },
    ],
  },
  stall: { title: "No answer", says: "The provider takes the request and is silent.", fields: [] },
  reset_after_body: {
    title: "A broken connection",
    says: "The connection breaks once all is sent: nobody knows what became of the request.",
    fields: [],
  },
  garbage: { title: "Garbage", says: "A 200 with something that is no answer.", fields: [] },
  empty: { title: "Nothing was said", says: "A proper answer, without a word in it.", fields: [] },
  drop: {
    title: "A missing feature",
    says: "The answer lacks what was required of it.",
    fields: [
      {
        kind: "select",
        name: "failure.feature",
        label: "What it lacks",
        choices: Object.entries(DROPS),
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
      label: "Which simulated provider",
      hint: "simulated-speech speaks as Deepgram does, simulated-chat as OpenAI.",
      choices: [[ALL, "All of them"], ...PROVIDERS.map((provider) => [provider, titleOf(provider)] as const)],
      isRequired: true,
    },
    {
      kind: "text",
      name: "model",
      label: "Which model",
      hint: "As the provider is told it: simulated-speech, nova-3. Empty: all.",
      placeholder: "simulated-speech",
    },
    {
      kind: "number",
      name: "times",
      label: "How many calls",
      hint: "Then all is well again. Empty: until it is taken back.",
      value: "1",
    },
  ];
}

const PROVIDERS = Object.keys(CONNECTION_KINDS).filter((kind) => kind !== "sandbox") as readonly Provider[];

export const titleOf = (provider: Provider): string => CONNECTION_KINDS[provider].title;

export function wordsOf(failure: Failure): string {
  const { title } = FAULTS[failure.kind];
  if (failure.kind === "status") {
    const wait = failure.retry_after_seconds === undefined ? "" : `, Retry-After ${failure.retry_after_seconds} s`;
    return `HTTP ${failure.status}${wait}`;
  }
  if (failure.kind === "delay") return `${title}, ${failure.ms} ms later`;
  return failure.kind === "drop" ? `${title}: ${DROPS[failure.feature]}` : title;
}
