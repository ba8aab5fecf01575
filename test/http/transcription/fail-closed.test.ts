// Routing fails closed: every route that four models can form, against every combination of six features and three languages. What each
// model can do is written here a second time, from the providers' documentation, so that a slip in the model data shows as a disagreement.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SandboxCall } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { Lack } from "../../../src/contract/features.ts";
import { brand } from "../../../src/contract/ids.ts";
import type { TranscriptionFields } from "../../../src/contract/transcription/transcription-fields.ts";
import { type Account, createDirectory, PLATFORM } from "../../../src/directory/snapshot.ts";
import { storedRoute } from "../../../src/directory/stored-schemas.ts";
import { chatProviders, providers } from "../../../src/providers/registry.ts";
import { decideRoute, type RouteDecision } from "../../../src/routing/decide-route.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type Answer, detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { KEY, sandboxConnections, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { audioContext } from "../../routing/routing-fixtures.ts";

const ASKED = ["diarization", "words", "redaction", "keyterms", "multichannel", "profanity"] as const;
type Asked = (typeof ASKED)[number];
type Language = "en" | "de" | null;

interface Model {
  readonly connection: "oa" | "dg";
  readonly model: string;
  readonly can: (asked: Asked, language: Language) => boolean;
}

// Deepgram redacts entities in English alone, which is also its default language. It masks profanity in
// both languages. OpenAI's transcription redacts nothing; a prompt is no key term, a word list is no profanity filter (both
// weak), and the gateway sends it each channel by itself.
const deepgramCan: Model["can"] = (asked, language) => asked !== "redaction" || language !== "de";
const MODELS: Readonly<Record<string, Model>> = {
  w: { connection: "oa", model: "whisper-1", can: (asked) => asked === "words" || asked === "multichannel" },
  s: {
    connection: "oa",
    model: "gpt-4o-transcribe-diarize",
    can: (asked) => asked === "diarization" || asked === "multichannel",
  },
  t: { connection: "dg", model: "nova-2", can: deepgramCan },
  n: { connection: "dg", model: "nova-3", can: deepgramCan },
};

const WIRE_NAMES: Readonly<Record<Asked, Lack>> = {
  diarization: "diarization",
  words: "timestamps.word",
  redaction: "redaction.pii",
  keyterms: "keyterms",
  multichannel: "multichannel",
  profanity: "profanity_filter",
};
const FIELDS: Readonly<Record<Asked, TranscriptionFields>> = {
  diarization: { diarization: true },
  words: { timestamps: "word" },
  redaction: { redaction: ["pii"] },
  keyterms: { keyterms: ["Patchbay"] },
  multichannel: { multichannel: true },
  profanity: { profanity_filter: true },
};

interface Case {
  /** Letters of `MODELS`, in the order of the route. */
  readonly route: string;
  readonly asked: readonly Asked[];
  readonly language: Language;
}

const ROUTES = orderedSubsets(Object.keys(MODELS));
const CASES: readonly Case[] = ROUTES.flatMap((route) =>
  Array.from({ length: 2 ** ASKED.length }, (_, bits) =>
    ASKED.filter((_each, index) => (bits >> index) % 2 === 1),
  ).flatMap((asked) => (["en", "de", null] as const).map((language) => ({ route, asked, language }))),
);

/** The letter of the first model of the route that can do all of it. */
function expectedModel({ route, asked, language }: Case): string | null {
  return route.split("").find((letter) => asked.every((each) => modelOf(letter).can(each, language))) ?? null;
}

test("transcription.fail-closed: of 12,288 requests each goes to the first model that can do all of it, or is refused with what each model lacks", (t) => {
  assert.deepEqual([ROUTES.length, new Set(ROUTES).size, CASES.length], [64, 64, 12_288]);
  const decide = pureDecision();
  let served = 0;
  let refused = 0;
  for (const each of CASES) {
    const about = JSON.stringify(each);
    const expected = expectedModel(each);
    const decision = decide(each);
    if (expected !== null) {
      served += 1;
      assert(decision.ok, about);
      assert.equal(decision.candidates[0]?.target.model, modelOf(expected).model, about);
      const capable = each.route
        .split("")
        .filter((letter) => each.asked.every((one) => modelOf(letter).can(one, each.language)));
      assert.deepEqual(
        decision.candidates.map((candidate) => candidate.target.model),
        capable.map((letter) => modelOf(letter).model),
        `${about}: no fallback hop is less capable`,
      );
      continue;
    }
    refused += 1;
    assert(!decision.ok, about);
    assert(decision.refusal.kind === "unsupported", about);
    assert(decision.refusal.missing.length > 0, about);
    for (const [index, letter] of each.route.split("").entries()) {
      const lacks = each.asked.filter((one) => !modelOf(letter).can(one, each.language)).map((one) => WIRE_NAMES[one]);
      const reported: readonly Lack[] = decision.considered[index]?.verdict.missing ?? [];
      assert.deepEqual([...reported].toSorted(), lacks.toSorted(), `${about}: what ${letter} lacks`);
    }
  }
  t.diagnostic(`${served} ended 200, ${refused} ended 422`);
  assert(served > 0);
  assert(refused > 0);
  assert.equal(served + refused, CASES.length);
});

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOfAllRoutes });
});
after(() => gateway.close());

test("transcription.fail-closed, transcription.options-reach-provider: a sample of them over HTTP: one call, or one a channel, with every parameter asked and no other, or 422 and no call", async (t) => {
  const counts = { served: 0, refused: 0 };
  for (const each of sample(200)) {
    gateway.sandbox.clearCalls();
    const answer = await send(each);
    const about = `${JSON.stringify(each)} ${answer.text}`;
    const expected = expectedModel(each);
    if (expected === null) {
      counts.refused += 1;
      assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED", about);
      const { missing } = detailsOf(answer);
      assert(Array.isArray(missing) && missing.length > 0, about);
      assert.equal(gateway.sandbox.callCount, 0, about);
      continue;
    }
    counts.served += 1;
    const envelope = envelopeOf(answer);
    assert.equal(envelope.svc_applied_purpose, `r-${each.route}`);
    const isSplit = modelOf(expected).connection === "oa" && each.asked.includes("multichannel");
    assert.equal(gateway.sandbox.callCount, isSplit ? 2 : 1, about);
    for (const call of gateway.sandbox.calls) {
      assert.equal(call.model, modelOf(expected).model, about);
      checkParameters(call, each, about);
    }
    assert.equal(envelope.words.length > 0, each.asked.includes("words"), about);
    if (each.asked.includes("diarization"))
      assert(
        envelope.segments.every(({ speaker }) => speaker !== null),
        about,
      );
    if (each.asked.includes("multichannel"))
      assert.deepEqual(new Set(envelope.segments.map(({ channel }) => channel)), new Set([0, 1]), about);
  }
  t.diagnostic(`${counts.served} answered 200, ${counts.refused} answered 422`);
  assert(counts.served > 0);
  assert(counts.refused > 0);
});

/** Exactly what was asked is on the wire: a parameter that was not asked for would cost or change something. */
function checkParameters(call: SandboxCall, { asked, language }: Case, about: string): void {
  const of = (pairs: SandboxCall["query"], name: string) =>
    pairs.filter(([key]) => key === name).map(([, value]) => value);
  const when = (feature: Asked, values: readonly string[]) => (asked.includes(feature) ? values : []);
  if (call.wire === "deepgram") {
    assert.deepEqual(of(call.query, "language"), [language ?? "en"], about);
    assert.deepEqual(of(call.query, "diarize_model"), when("diarization", ["latest"]), about);
    assert.deepEqual(of(call.query, "redact"), when("redaction", ["pii"]), about);
    const [takes, other] = call.model === "nova-3" ? ["keyterm", "keywords"] : ["keywords", "keyterm"];
    assert.deepEqual(of(call.query, takes), when("keyterms", ["Patchbay"]), about);
    assert.deepEqual(of(call.query, other), [], about);
    assert.deepEqual(of(call.query, "multichannel"), when("multichannel", ["true"]), about);
    assert.deepEqual(of(call.query, "profanity_filter"), when("profanity", ["true"]), about);
    return;
  }
  assert.deepEqual(of(call.fields, "language"), language === null ? [] : [language], about);
  assert.deepEqual(of(call.fields, "timestamp_granularities[]").includes("word"), asked.includes("words"), about);
  assert.equal(of(call.fields, "response_format").includes("diarized_json"), asked.includes("diarization"), about);
  assert.deepEqual(of(call.fields, "prompt"), [], about);
}

function send({ route, asked, language }: Case): Promise<Answer> {
  const fields: Record<string, string> = { purpose: `r-${route}`, ...(language === null ? {} : { language }) };
  for (const each of asked)
    for (const [name, value] of Object.entries(FIELDS[each]))
      fields[name] = typeof value === "object" ? JSON.stringify(value) : String(value);
  return postForm(gateway.origin, { file: STEREO, fields });
}

/** One second of speech on two channels, the same for every case: two channels are what `multichannel` needs to be shown. */
const STEREO = fixture("speech-44k-stereo.wav");

function pureDecision(): (each: Case) => RouteDecision {
  const workspace = brand("workspace", "ws_test");
  const accounts = (["oa", "dg"] as const).map((connection): { scope: string; account: Account } => ({
    scope: PLATFORM,
    account: {
      key: `${PLATFORM}/${connection}`,
      connection,
      kind: connection === "oa" ? "openai" : "deepgram",
      baseUrl: null,
      isCallersAddress: false,
      credential: null,
      timeoutMs: 1000,
      models: {},
    },
  }));
  const rows = ROUTES.map((route) => ({
    scope: PLATFORM,
    id: route,
    version: 1,
    definition: storedRoute.parse({ targets: targetsOf(route) }),
  }));
  const routes = createDirectory(
    { accounts, routes: rows, pauses: [] },
    { speech: providers, chat: chatProviders },
  ).routesOf(workspace);
  return ({ route, asked, language }) => {
    const own = routes.get(route);
    assert(own !== undefined);
    return decideRoute(
      audioContext(own, []),
      {
        task: "transcribe",
        fields: Object.assign(language === null ? {} : { language }, ...asked.map((each) => FIELDS[each])),
        purpose: { body: null, header: null, policy: null },
        audio: { format: "wav", sizeBytes: 176_444, durationSeconds: 1, channels: 2, pcmRate: 44_100 },
      },
      () => null,
    );
  };
}

function fileOfAllRoutes(sandbox: TestGateway["sandbox"]): ConfigurationFile {
  return {
    connections: sandboxConnections(sandbox),
    routes: ROUTES.map((route) => ({ id: route, targets: targetsOf(route) })),
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "w",
            purposes: ROUTES.map((route) => ({ purpose: `r-${route}`, route })),
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe"] }],
          },
        ],
      },
    ],
  };
}

function targetsOf(route: string) {
  return route.split("").map((letter) => ({ connection: modelOf(letter).connection, model: modelOf(letter).model }));
}

function modelOf(letter: string): Model {
  const model = MODELS[letter];
  assert(model !== undefined);
  return model;
}

function orderedSubsets(letters: readonly string[]): readonly string[] {
  return letters.flatMap((letter) => [
    letter,
    ...orderedSubsets(letters.filter((each) => each !== letter)).map((rest) => letter + rest),
  ]);
}

/** The same cases on every run. */
function sample(count: number): readonly Case[] {
  let state = 20_261_101;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const picked = CASES[Math.floor((state / 2 ** 32) * CASES.length)];
    assert(picked !== undefined);
    return picked;
  });
}
