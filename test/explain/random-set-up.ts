// Random routes, purposes, apps and requests: a set-up that an operator could write, and what callers might ask of it.
import * as fc from "fast-check";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { sandboxConnections } from "../harness/gateway.ts";

const LABELS = ["meetings", "calls", "notes"] as const;
const ROUTES = ["r0", "r1", "r2", "r3"] as const;
const TARGETS = [
  { connection: "dg", model: "nova-3" },
  { connection: "dg", model: "nova-2" },
  { connection: "oa", model: "whisper-1" },
  { connection: "oa", model: "gpt-4o-transcribe" },
  { connection: "oa", model: "gpt-4o-transcribe-diarize" },
  { connection: "local", model: "whisper" },
  { connection: "llm", model: "talker" },
] as const;

const profile = fc.constantFrom("fast" as const, "balanced" as const, "deep" as const);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const defaults = fc.constantFrom({}, { diarization: true }, { language: "de" }, { timestamps: "word" as const });

const purposes = fc.subarray([...LABELS]).chain((labels) =>
  fc.tuple(
    ...labels.map((purpose) =>
      fc.record({
        purpose: fc.constant(purpose),
        route: fc.constantFrom(...ROUTES),
        is_enabled: fc.boolean(),
        is_published: fc.boolean(),
        defaults,
      }),
    ),
  ),
);

const route = fc.record({
  targets: fc.array(
    fc
      .record({ target: fc.constantFrom(...TARGETS), profiles: optional(fc.uniqueArray(profile, { minLength: 1 })) })
      .map(({ target, profiles }) => ({ ...target, ...(profiles === undefined ? {} : { profiles }) })),
    { minLength: 1, maxLength: 4 },
  ),
  purposes,
  profile_override_allowed: fc.boolean(),
  split_long_audio: fc.boolean(),
  translate_via_chat: fc.boolean(),
  accept_weak: fc.subarray(["diarization" as const, "keyterms" as const]),
});

export interface RandomRequest {
  readonly task: "transcribe" | "translate" | "chat";
  readonly fields: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly file: "speech-16k.wav" | "speech-44k-stereo.wav" | "speech-cbr.mp3";
}

export interface RandomApp {
  readonly id: string;
  readonly secret: string;
  readonly requests: readonly RandomRequest[];
}

const speechFields = fc.record(
  {
    diarization: fc.boolean(),
    timestamps: fc.constantFrom("word", "segment", "both"),
    language: fc.constantFrom("en", "pt-BR", "ar"),
    multichannel: fc.boolean(),
    redaction: fc.constantFrom(["pii"], ["numbers"]),
    keyterms: fc.constantFrom(["Patchbay"], ["one", "two words"]),
    response_profile: profile,
    purpose: fc.constantFrom(...LABELS, "unlisted", "Not a label!"),
    purpose_policy: fc.constantFrom("fallback", "strict"),
    detect_language: fc.boolean(),
    smart_formatting: fc.boolean(),
    speaker_count_hint: fc.integer({ min: 1, max: 5 }),
    profanity_filter: fc.boolean(),
    stream: fc.boolean(),
    dry_run: fc.boolean(),
  },
  { requiredKeys: [] },
);

const chatFields = fc.record(
  {
    response_profile: profile,
    purpose: fc.constantFrom(...LABELS, "unlisted"),
    temperature: fc.constantFrom(0, 1),
    max_tokens: fc.constantFrom(16, 900_000),
    dry_run: fc.constant(true),
  },
  { requiredKeys: ["dry_run"] },
);

const request: fc.Arbitrary<RandomRequest> = fc
  .tuple(fc.constantFrom("transcribe", "transcribe", "translate", "chat"), fc.nat({ max: 2 }))
  .chain(([task, file]) =>
    (task === "chat" ? chatFields : fewOf(speechFields)).map((fields) => ({
      task,
      fields: withoutStreamOfTranslation(task, fields),
      file: (["speech-16k.wav", "speech-44k-stereo.wav", "speech-cbr.mp3"] as const)[file] ?? "speech-16k.wav",
    })),
  );

/** Who asks for everything at once is always refused. */
function fewOf(fields: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.tuple(fields, fc.array(fc.nat(), { maxLength: 3 })).map(([all, picks]) =>
    Object.fromEntries(
      picks.flatMap((pick) => {
        const entries = Object.entries(all);
        const entry = entries[pick % Math.max(1, entries.length)];
        return entry === undefined ? [] : [entry];
      }),
    ),
  );
}

/** What a caller sends is what is explained: nothing undefined. */
function withoutStreamOfTranslation(task: string, fields: object): RandomRequest["fields"] {
  const { stream, ...rest } = fields as Record<string, string | boolean>;
  return task === "translate" || stream === undefined ? rest : { ...rest, stream };
}

export interface RandomSetUp {
  readonly file: (sandbox: Sandbox) => ConfigurationFile;
  readonly apps: readonly RandomApp[];
}

/** One app whose requests are always served: chance alone may route none. */
const PLAIN_ROUTE = { id: "plain", targets: [{ connection: "dg", model: "nova-3" }] };
const PLAIN_APP: RandomApp = {
  id: "plain",
  secret: secretOf(9_999),
  requests: [{}, { dry_run: true }].map((fields) => ({ task: "transcribe", fields, file: "speech-16k.wav" })),
};

/** The same for the same seed. */
export function randomSetUp(seed: number, apps: number, requestsEach: number): RandomSetUp {
  const routes = fc.sample(fc.tuple(route, route, route, route), { seed, numRuns: 1 })[0] ?? [];
  const settings = fc.sample(
    fc.record({
      route: fc.constantFrom(...ROUTES),
      audio_input_override: fc.option(fc.constantFrom(...ROUTES), { nil: null }),
      audio_purpose_policy: fc.constantFrom("fallback" as const, "strict" as const),
      purposes,
      requests: fc.array(request, { minLength: requestsEach, maxLength: requestsEach }),
    }),
    { seed: seed + 1, numRuns: apps },
  );
  return {
    apps: [
      ...settings.map(({ requests }, index) => ({ id: `app${index}`, secret: secretOf(index), requests })),
      PLAIN_APP,
    ],
    file: (sandbox) => ({
      connections: [
        ...(sandboxConnections(sandbox) ?? []),
        {
          id: "llm",
          kind: "openai-compatible",
          base_url: sandbox.compatibleUrl("openai"),
          models: { talker: { capabilities: ["chat"], limits: { max_output_tokens: 4_096 } } },
        },
      ],
      routes: [...routes.map((each, index) => ({ id: ROUTES[index] ?? "", ...each })), PLAIN_ROUTE],
      workspaces: [
        {
          id: "acme",
          apps: [
            ...settings.map(({ requests: _requests, ...app }, index) => ({
              id: `app${index}`,
              ...app,
              keys: [keyOf(`key${index}`, secretOf(index))],
            })),
            { id: PLAIN_APP.id, route: PLAIN_ROUTE.id, keys: [keyOf("plain", PLAIN_APP.secret)] },
          ],
        },
      ],
    }),
  };
}

function keyOf(id: string, secret: string) {
  return { id, secret, scopes: ["transcribe" as const, "chat" as const] };
}

function secretOf(index: number): string {
  return `test-key-of-a-random-app-${String(index).padStart(4, "0")}`;
}
