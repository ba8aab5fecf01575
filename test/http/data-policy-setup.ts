// A gateway on whose routes each kind of provider is listed without facts, with a statement, and at its own and its regional addresses.
import type { Sandbox } from "../../sandbox/server.ts";
import { generateKey } from "../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import type { DataPolicyRequirement } from "../../src/contract/settings/data-policy.ts";
import { KEY } from "../harness/gateway.ts";

export const TEST_KEY = generateKey("test");
export const STRICT_KEY = "key-of-the-app-with-a-data-policy";
const OWN = "credential-that-nothing-is-sent-with";
export const OPERATOR = "operator-key-of-the-data-policy-test";
export const ALL = { training: "never", retention: "none", regions: ["eu"] } as const satisfies DataPolicyRequirement;
export const ALL_LACKS = ["data_policy.training", "data_policy.retention", "data_policy.regions"];

type Connection = NonNullable<ConfigurationFile["connections"]>[number];
const ANY_MODEL = { capabilities: ["audio_input" as const, "chat" as const] };
type Kind = Connection["kind"];

/** One model of each kind that takes files. */
export const FILES: readonly (readonly [kind: Kind, model: string, settings: Readonly<Record<string, unknown>>])[] = [
  ["assemblyai", "universal-2", {}],
  ["deepgram", "nova-3", { mip_opt_out: false }],
  ["elevenlabs", "scribe_v2", {}],
  ["gemini", "gemini-3.5-transcribe", {}],
  ["google-speech", "chirp_2", {}],
  ["openai", "whisper-1", {}],
  ["openai-compatible", "any", { dialect: "groq" }],
];
/** And one that chats. */
export const CHATS: readonly (readonly [kind: Kind, model: string, settings: Readonly<Record<string, unknown>>])[] = [
  ["anthropic", "claude-opus-4-5", {}],
  ["gemini", "gemini-3.5-flash", {}],
  ["openai", "gpt-4o", {}],
  ["openai-compatible", "any", {}],
];
export const BOTH = [
  ...FILES.map((each) => [...each, "files"] as const),
  ...CHATS.map((each) => [...each, "chat"] as const),
];

/** The form fields of a request. */
export const fileFields = (purpose: string, policy?: object) => ({
  purpose,
  ...(policy === undefined ? {} : { data_policy: JSON.stringify(policy) }),
});

export function dataPolicyFile(sandboxServer: Sandbox): ConfigurationFile {
  const urlOf: Readonly<Partial<Record<Kind, string>>> = {
    assemblyai: sandboxServer.assemblyaiUrl,
    anthropic: sandboxServer.anthropicUrl,
    deepgram: sandboxServer.deepgramUrl,
    elevenlabs: sandboxServer.elevenlabsUrl,
    gemini: sandboxServer.geminiUrl,
    "google-speech": sandboxServer.googleSpeechUrl,
    openai: sandboxServer.openaiUrl,
    "openai-compatible": sandboxServer.compatibleUrl("groq"),
  };
  const kinds = [...new Set(BOTH.map(([kind]) => kind))];
  const common = (kind: Kind) => ({
    kind,
    ...(kind === "openai-compatible" ? { models: { any: ANY_MODEL } } : {}),
  });
  const REGIONAL: readonly Kind[] = ["assemblyai", "deepgram", "elevenlabs", "google-speech"];
  const own = kinds.filter((kind) => kind !== "openai-compatible" && kind !== "anthropic");
  const modelOf = (kind: Kind) => FILES.find(([each]) => each === kind)?.[1] ?? "";
  const routes: NonNullable<ConfigurationFile["routes"]> = [
    ...BOTH.flatMap(([kind, model, settings, use]) => [
      { id: `${use}-${kind}-bare`, targets: [{ connection: `${kind}-bare`, model, settings }] },
      {
        id: `${use}-${kind}-both`,
        targets: [
          { connection: `${kind}-bare`, model, settings },
          { connection: `${kind}-stated`, model, settings },
        ],
      },
    ]),
    ...own.map((kind) => ({ id: `own-${kind}`, targets: [{ connection: `own-${kind}`, model: modelOf(kind) }] })),
    ...REGIONAL.map((kind) => ({
      id: `own-${kind}-eu`,
      targets: [{ connection: `own-${kind}-eu`, model: modelOf(kind) }],
    })),
    {
      id: "by-route",
      targets: [{ connection: "assemblyai-bare", model: "universal-2" }],
      data_policy: { training: "never" },
    },
    {
      id: "eu-only",
      targets: [{ connection: "deepgram-stated", model: "nova-3" }],
      data_policy: { regions: ["eu"] },
    },
  ];
  const purposes = [
    ...routes.map(({ id }) => ({ purpose: id, route: id })),
    { purpose: "by-purpose", route: "files-assemblyai-bare", data_policy: { training: "never" as const } },
  ];
  const scopes = ["transcribe" as const, "chat" as const, "jobs" as const, "routing:read" as const];
  const app = { route: "files-deepgram-bare", purposes };
  return {
    operator_keys: [{ id: "root", secret: OPERATOR }],
    connections: [
      ...kinds.flatMap((kind): Connection[] => [
        { id: `${kind}-bare`, ...common(kind), api_key: `${kind}-credential-one`, base_url: urlOf[kind] ?? "" },
        {
          id: `${kind}-stated`,
          ...common(kind),
          api_key: `${kind}-credential-two`,
          base_url: urlOf[kind] ?? "",
          data_policy: { training: "never", retention: "none", regions: ["eu"] },
        },
      ]),
      ...own.map((kind): Connection => ({ id: `own-${kind}`, ...common(kind), api_key: OWN })),
      ...REGIONAL.map(
        (kind): Connection => ({
          id: `own-${kind}-eu`,
          ...common(kind),
          api_key: OWN,
          region: "eu",
        }),
      ),
    ],
    routes,
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            ...app,
            keys: [
              { id: "notes", secret: KEY, scopes },
              { id: "test", secret: TEST_KEY, scopes },
            ],
          },
          {
            id: "clinic",
            ...app,
            data_policy: { training: "never", retention: "none" },
            keys: [{ id: "clinic", secret: STRICT_KEY, scopes }],
          },
        ],
      },
    ],
  };
}
