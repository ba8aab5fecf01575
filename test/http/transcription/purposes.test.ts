// Purposes over HTTP: what is sent, what is applied, and which model serves. Each route has a model of its own, so that the sandbox's
// record shows the route.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { keyDescription } from "../../../src/contract/account.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type Answer, detailsOf, envelopeOf, get, postForm } from "../../harness/client.ts";
import { type AppParts, configurationWith } from "../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

const AUDIO = fixture("speech-44k-stereo.wav");

/** The app's own routing, then the same with an audio_input override: each publishes the same labels, with other routes. */
const KEYS = {
  "plain-fallback": "test-key-plain-with-fallback-01",
  "plain-strict": "test-key-plain-with-strict-01",
  "override-fallback": "test-key-override-with-fallback-01",
  "override-strict": "test-key-override-with-strict-01",
  bound: "test-key-with-a-binding-of-its-own",
  unbound: "test-key-without-a-binding-of-its-own",
  text: "test-key-of-a-text-only-app-01",
  defaulted: "test-key-whose-app-has-a-default",
  "default-unusable": "test-key-whose-default-is-unusable",
} as const;

const LABELS = ["good", "misspelled", "off", "draft", "typing"] as const;
const REASONS = { misspelled: "unknown", off: "disabled", draft: "unpublished", typing: "no_audio_model" } as const;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

for (const context of ["plain", "override"] as const) {
  for (const policy of ["fallback", "strict"] as const) {
    const key = KEYS[`${context}-${policy}`];
    const resolved = context === "plain" ? "nova-3" : "whisper-1";
    const selected = context === "plain" ? "nova-2" : "gpt-4o-transcribe-diarize";

    test(`routing.purpose-fields: ${context}, ${policy}: no purpose, the resolved route serves and the fields say none`, async () => {
      const answer = await ask({ key });
      expectServed(answer, resolved, [null, null, "none"]);
      assert.deepEqual(envelopeOf(answer).warnings, []);
    });

    for (const carrier of ["body", "header", "both"] as const) {
      for (const label of LABELS) {
        const rule =
          label === "good" ? "selects its route" : policy === "strict" ? "is 503, nothing called" : "falls back";
        test(`routing.purpose-selects-route, routing.purpose-fallback, routing.purpose-strict: ${context}, ${policy}: a ${label} purpose in ${carrier} ${rule}`, async () => {
          const answer = await ask({ key, ...carry(carrier, label) });
          if (label === "good") {
            expectServed(answer, selected, ["good", "good", carrier === "header" ? "header" : "body"]);
            assert.deepEqual(envelopeOf(answer).warnings, []);
          } else if (policy === "strict") {
            expectRefused(answer, REASONS[label]);
          } else {
            expectServed(answer, resolved, [label, null, "fallback"]);
            expectWarning(answer, REASONS[label]);
          }
        });
      }
    }
  }
}

test("routing.purpose-strict: the stricter policy wins, from the body or the header, and none can loosen the key's", async () => {
  const loose = KEYS["plain-fallback"];
  const strictHeader = { "x-svc-purpose-policy": "strict" };
  expectRefused(await ask({ key: loose, body: "off", headers: strictHeader }), "disabled");
  expectRefused(await ask({ key: loose, header: "off", fields: { purpose_policy: "strict" } }), "disabled");
  const both = { key: loose, header: "off", fields: { purpose_policy: "fallback" } };
  expectRefused(await ask({ ...both, headers: strictHeader }), "disabled");
  const looseHeader = { "x-svc-purpose-policy": "fallback" };
  expectRefused(await ask({ key: KEYS["plain-strict"], body: "off", headers: looseHeader }), "disabled");
  const bad = await ask({ key: loose, headers: { "x-svc-purpose-policy": "lenient" } });
  assert.equal(bad.code, "INVALID_REQUEST");
});

test("routing.purpose-label: a label outside the grammar is merely unknown, never a 400", async () => {
  const answer = await ask({ key: KEYS["plain-fallback"], body: "Good & More" });
  expectServed(answer, "nova-3", ["Good & More", null, "fallback"]);
  expectWarning(answer, "unknown");
});

test("routing.purpose-precedence: on equal labels the key's binding wins over the app's, and the app's over the route's", async () => {
  expectServed(await ask({ key: KEYS.bound, body: "good" }), "whisper-1", ["good", "good", "body"]);
  gateway.sandbox.clearCalls();
  expectServed(await ask({ key: KEYS.unbound, body: "good" }), "gpt-4o-transcribe-diarize", ["good", "good", "body"]);
  gateway.sandbox.clearCalls();
  expectServed(await ask({ key: KEYS["plain-fallback"], body: "good" }), "nova-2", ["good", "good", "body"]);
});

test("routing.purpose-default: an app's default purpose applies when the request sends none; an explicit one wins over it", async () => {
  expectServed(await ask({ key: KEYS.defaulted }), "nova-2", [null, "good", "app_default"]);
  gateway.sandbox.clearCalls();
  expectServed(await ask({ key: KEYS.defaulted, body: "speakers" }), "nova-3", ["speakers", "speakers", "body"]);
});

test("routing.purpose-default: an unusable default purpose is not explicit, and falls back under the strict policy too", async () => {
  const answer = await ask({ key: KEYS["default-unusable"] });
  expectServed(answer, "nova-3", [null, null, "fallback"]);
  expectWarning(answer, "disabled");
});

test("routing.purpose-defaults: a purpose's defaults fill the fields that the request does not send, and only those", async () => {
  const key = KEYS["plain-fallback"];
  const envelope = envelopeOf(await ask({ key, body: "speakers" }));
  assert(envelope.segments.length > 0);
  assert(envelope.segments.every(({ speaker }) => speaker !== null));
  gateway.sandbox.clearCalls();
  const silenced = envelopeOf(await ask({ key, body: "speakers", fields: { diarization: "false" } }));
  assert.deepEqual(silenced.segments, []);
  assert.equal(
    gateway.sandbox.calls[0]?.query.some(([name]) => name === "diarize_model"),
    false,
  );
});

test("routing.no-model: a route of text models alone is 503 no_audio_model, not retryable, and its chat model is never called", async () => {
  const answer = await ask({ key: KEYS.text });
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.deepEqual(detailsOf(answer), { reason: "no_audio_model" });
  assert.equal(answer.headers.get("x-should-retry"), "false");
  assert.equal(gateway.sandbox.callCount, 0);
});

test("routing.purpose-defaults: a purpose's default is a required feature: refused when its route cannot do it", async () => {
  const answer = await ask({ key: KEYS["override-fallback"], body: "impossible" });
  assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.deepEqual(detailsOf(answer)["missing"], ["diarization"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

test("routing.purposes-listed, routing.purpose-override-context: GET /v1/me lists published purposes by context, where the override's alone count for audio", async () => {
  const plain = keyDescription.parse((await get(gateway.origin, "/v1/me", KEYS["plain-strict"])).json);
  assert.equal(plain.audio_purpose_policy, "strict");
  const listed = [
    ["good", "Chosen", true],
    ["off", "", false],
    ["typing", "", true],
    ["speakers", "", true],
  ];
  const entries = (purposes: typeof plain.purposes) =>
    purposes.map(({ purpose, description, is_enabled }) => [purpose, description, is_enabled]);
  assert.deepEqual(entries(plain.purposes), listed, "unpublished ones are not listed, disabled ones say so");
  assert.deepEqual(
    plain.routing_contexts.map(({ context, source, capabilities }) => [context, source, capabilities]),
    [
      ["default", undefined, ["audio_input"]],
      ["audio_input", "route", ["audio_input"]],
    ],
  );

  const override = keyDescription.parse((await get(gateway.origin, "/v1/me", KEYS["override-fallback"])).json);
  assert.equal(override.audio_purpose_policy, "fallback");
  const [first, audio] = override.routing_contexts;
  assert.deepEqual([first?.capabilities, first?.purposes], [["chat"], []]);
  assert.equal(audio?.source, "capability_override");
  assert.deepEqual(
    audio?.purposes.map(({ purpose }) => purpose),
    ["good", "off", "typing", "impossible"],
  );
  assert.deepEqual(
    override.purposes,
    audio?.purposes.map((entry) => ({ ...entry, contexts: entry.is_enabled ? ["audio_input"] : [] })),
  );
  assert.equal(audio?.targets, undefined, "names of providers only with routing:read");
});

test("routing.purposes-listed: GET /v1/me reports in which context a purpose is enabled; where a request would fall back it is not", async () => {
  const enabledIn = async (key: string) => {
    const { purposes, routing_contexts: contexts } = keyDescription.parse(
      (await get(gateway.origin, "/v1/me", key)).json,
    );
    const labelled = (label: string) => purposes.find(({ purpose }) => purpose === label);
    const typing = contexts.map((each) => each.purposes.find(({ purpose }) => purpose === "typing")?.is_enabled);
    return { good: labelled("good")?.contexts, typing: labelled("typing"), perContext: typing };
  };
  const plain = await enabledIn(KEYS["plain-fallback"]);
  assert.deepEqual(plain.good, ["default", "audio_input"]);
  // Its route chats, and audio that asks for it falls back.
  assert.deepEqual([plain.typing?.is_enabled, plain.typing?.contexts], [true, ["default"]]);
  assert.deepEqual(plain.perContext, [true, false]);
  const override = await enabledIn(KEYS["override-fallback"]);
  assert.deepEqual(override.good, ["audio_input"]);
  assert.deepEqual([override.typing?.is_enabled, override.typing?.contexts], [false, []]);
});

test("routing.purposes-listed: the audio_input context of a text-only app lists no capability", async () => {
  const { routing_contexts: contexts } = keyDescription.parse((await get(gateway.origin, "/v1/me", KEYS.text)).json);
  assert.deepEqual(
    contexts.map(({ context, capabilities }) => [context, capabilities]),
    [
      ["default", ["chat"]],
      ["audio_input", []],
    ],
  );
});

interface Asking {
  readonly key: string;
  readonly body?: string;
  readonly header?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ key, body, header, fields, headers }: Asking): Promise<Answer> {
  return postForm(gateway.origin, {
    key,
    file: AUDIO,
    fields: { ...fields, ...(body === undefined ? {} : { purpose: body }) },
    headers: { ...headers, ...(header === undefined ? {} : { "x-svc-purpose": header }) },
  });
}

/** With both, the header says something else each time: the body must win. */
function carry(carrier: "body" | "header" | "both", label: string): Pick<Asking, "body" | "header"> {
  if (carrier === "body") return { body: label };
  return carrier === "header" ? { header: label } : { body: label, header: label === "good" ? "off" : "good" };
}

function expectServed(answer: Answer, model: string, fields: readonly (string | null)[]): void {
  const envelope = envelopeOf(answer);
  assert.deepEqual(
    gateway.sandbox.calls.map((call) => call.model),
    [model],
  );
  assert.deepEqual([envelope.svc_requested_purpose, envelope.svc_applied_purpose, envelope.svc_purpose_source], fields);
}

function expectWarning(answer: Answer, reason: string): void {
  assert.deepEqual(
    envelopeOf(answer).warnings.map(({ code, param, details }) => [code, param, details]),
    [["PURPOSE_NOT_APPLIED", "purpose", { reason }]],
  );
}

function expectRefused(answer: Answer, reason: string): void {
  assert.equal(answer.status, 503);
  assert.equal(answer.code, "audio_purpose_unavailable");
  assert.deepEqual(detailsOf(answer), { reason });
  assert.equal(gateway.sandbox.callCount, 0);
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const unusable = (route: string) => ({
    off: { route, is_enabled: false },
    draft: { route, is_published: false },
    typing: "text",
  });
  const app = (id: keyof typeof KEYS, rest: Partial<AppParts> = {}) => ({
    [id]: { route: "speech", key: KEYS[id], ...rest },
  });
  const override = { route: "text", audio_input_override: "override" };
  return configurationWith(sandbox, {
    scopes: ["transcribe"],
    connections: { claude: { kind: "anthropic", base_url: sandbox.origin } },
    routes: {
      speech: {
        targets: "dg/nova-3",
        purposes: {
          good: { description: "Chosen", route: "chosen" },
          ...unusable("chosen"),
          speakers: { route: "speech", defaults: { diarization: true } },
        },
      },
      chosen: "dg/nova-2",
      override: {
        targets: "oa/whisper-1",
        purposes: {
          good: "override-chosen",
          ...unusable("override-chosen"),
          impossible: { route: "override", defaults: { diarization: true } },
        },
      },
      "override-chosen": "oa/gpt-4o-transcribe-diarize",
      text: "claude/claude-haiku-4-5",
    },
    apps: {
      ...app("plain-fallback"),
      ...app("plain-strict", { audio_purpose_policy: "strict" }),
      ...app("override-fallback", override),
      ...app("override-strict", { ...override, audio_purpose_policy: "strict" }),
      bindings: {
        route: "speech",
        purposes: { good: "override-chosen" },
        keys: { bound: { secret: KEYS.bound, purposes: { good: "override" } }, unbound: KEYS.unbound },
      },
      ...app("text", { route: "text" }),
      ...app("defaulted", { default_purpose: "good" }),
      ...app("default-unusable", { default_purpose: "off", audio_purpose_policy: "strict" }),
    },
  });
}
