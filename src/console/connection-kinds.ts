// The kinds of provider accounts and their form fields, to create or change one.
import type { Capability } from "../contract/features.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import type { PlainField } from "./plain-field.ts";

interface ConnectionKind {
  readonly title: string;
  readonly does: readonly Capability[];
  readonly says: string;
  /** Null: it accepts none. */
  readonly credential: Asked | null;
  /** `placeholder`: the default address. Null: the kind is built into the gateway. */
  readonly address: (Asked & { readonly placeholder: string }) | null;
  /** Its models must be declared, because the catalogue does not have them. */
  readonly wantsModels: boolean;
}
interface Asked {
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
}

export const CONNECTION_KINDS: Readonly<Record<ProviderKind, ConnectionKind>> = {
  openai: known("OpenAI", ["audio_input", "chat"], "Speech and chat models.", {
    key: "Create it at platform.openai.com under API keys.",
    address: "https://api.openai.com/v1",
  }),
  "openai-compatible": {
    title: "OpenAI-compatible server",
    does: ["audio_input", "chat"],
    says: "Any server with OpenAI's API, such as Groq, Mistral, vLLM, speaches or your own.",
    credential: { label: "API key", hint: "Empty if the server requires none.", isRequired: false },
    address: {
      label: "Address",
      hint: "Base URL before /audio/transcriptions and /chat/completions, usually ending in /v1.",
      isRequired: true,
      placeholder: "https://stt.example.com/v1",
    },
    wantsModels: true,
  },
  deepgram: known("Deepgram", ["audio_input"], "Speech, recorded and live.", {
    key: "Create it at console.deepgram.com under API Keys.",
    address: "https://api.deepgram.com",
  }),
  assemblyai: known("AssemblyAI", ["audio_input"], "Speech, recorded and live.", {
    key: "Create it at assemblyai.com under API Keys. A key belongs to one region.",
    address: "https://api.assemblyai.com",
  }),
  elevenlabs: known("ElevenLabs", ["audio_input"], "Speech, recorded and live.", {
    key: "Create it at elevenlabs.io under API Keys. It needs access to speech to text.",
    address: "https://api.elevenlabs.io",
  }),
  "google-speech": known("Google Speech-to-Text", ["audio_input"], "Speech, by Google Cloud.", {
    label: "Service account key",
    key: "The complete JSON key file of a service account with access to Speech-to-Text.",
    address: "https://us-speech.googleapis.com",
  }),
  anthropic: known("Anthropic", ["chat"], "Chat models.", {
    key: "Create it at console.anthropic.com under API keys.",
    address: "https://api.anthropic.com",
  }),
  gemini: known("Google Gemini", ["audio_input", "chat"], "Speech and chat models.", {
    key: "Create it at aistudio.google.com under API keys.",
    address: "https://generativelanguage.googleapis.com",
  }),
  local: {
    title: "This machine",
    does: ["audio_input"],
    says: "Speech models that run on the gateway's own machine: no account, no cost. Install them with patchbay models pull.",
    credential: null,
    address: null,
    wantsModels: false,
  },
  sandbox: {
    title: "Sandbox",
    does: ["audio_input", "chat"],
    says: "Simulated providers inside this gateway: no account, no cost, no real transcript.",
    credential: null,
    address: null,
    wantsModels: false,
  },
};

export const connectionPath = (id: string): string => `/connections/${encodeURIComponent(id)}`;

/** Fields without a form, each with the reason. */
export const NOT_IN_FORM: Readonly<Record<string, string>> = {
  kind: "it is chosen before, and another kind is another connection",
  models: "they are declared one by one once the connection is there",
  region: "set in the file or through the API, and preserved by the form",
  data_policy: "set in the file or through the API, and preserved by the form",
};

const ID = {
  kind: "text",
  name: "id",
  label: "Name",
  hint: "Used by routes. Letters, digits, “.”, “_” and “-”.",
  isRequired: true,
} as const;

/** The current values of a changed connection. */
interface Present {
  readonly base_url: string | null;
  readonly timeout_seconds: number;
}

export function fieldsOf(kind: ProviderKind, present: Present | null = null): readonly PlainField[] {
  const { credential, address } = CONNECTION_KINDS[kind];
  const where: readonly PlainField[] =
    address === null ? [] : [{ ...address, kind: "text", name: "base_url", value: present?.base_url ?? "" }];
  const proof: readonly PlainField[] =
    credential === null
      ? []
      : [{ ...credential, ...(present === null ? {} : KEPT), kind: "password", name: "api_key" }];
  return [
    ...(present === null ? [{ ...ID, placeholder: kind }] : []),
    // Required fields come first.
    ...(present !== null || address?.isRequired === true ? [...where, ...proof] : [...proof, ...where]),
    {
      kind: "number",
      name: "timeout_seconds",
      label: "Timeout in seconds",
      hint: "Default 600, at most 3600.",
      value: present === null ? "" : `${present.timeout_seconds}`,
    },
  ];
}

const KEPT = {
  label: "Credential",
  hint: "Leave empty to keep it. A new address requires the credential again.",
  isRequired: false,
};

/** A provider with a known address. */
function known(
  title: string,
  does: readonly Capability[],
  says: string,
  { label = "API key", key, address }: { readonly label?: string; readonly key: string; readonly address: string },
): ConnectionKind {
  return {
    title,
    does,
    says,
    credential: { label, hint: key, isRequired: true },
    address: {
      label: "Address",
      hint: "Only for another region or your own proxy. Empty: the provider's default.",
      isRequired: false,
      placeholder: address,
    },
    wantsModels: false,
  };
}
