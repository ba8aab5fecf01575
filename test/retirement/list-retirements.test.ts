// The retirement radar over the real catalogue: what each route, purpose and app loses on which day, and what would keep it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crossings } from "../../src/gateway/retirement/crossings.ts";
import { createRouteJudge } from "../../src/gateway/retirement/judge-routes.ts";
import type { Retirement } from "../../src/gateway/retirement/list-retirements.ts";
import { retirementText } from "../../src/gateway/retirement/retirement-text.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import { chatProviders } from "../../src/providers/registry.ts";
import { directoryOf, radarOf, type RouteFixture, usersOf, workspaceId } from "./radar-fixtures.ts";

const TODAY = Date.parse("2026-11-26T12:00:00Z");
const CONNECTIONS = {
  oa: { kind: "openai" },
  dg: { kind: "deepgram" },
  aai: { kind: "assemblyai" },
  gm: { kind: "gemini" },
} as const;
type Connections = Parameters<typeof directoryOf>[0];

function radar(routes: Readonly<Record<string, RouteFixture>>, connections: Connections = CONNECTIONS) {
  return radarOf(directoryOf(connections, routes));
}

const ids = (retirements: readonly Retirement[]): readonly string[] => retirements.map(({ id }) => id);
const texts = (retirements: readonly Retirement[], nowMs = TODAY): readonly string[] =>
  retirements.map((each) => retirementText(each, nowMs));

test("retirement.entries, retirement.message: a feature is lost on the day on which its last capable target ends, whatever the other targets do", async () => {
  const calls = { calls: { targets: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"] } };
  const lost = await radar(calls).list();
  assert.deepEqual(ids(lost), [
    "2027-02-26/platform/calls/diarization",
    "2027-02-26/platform/calls/timestamps.segment",
  ]);
  assert.equal(
    texts(lost)[0],
    "On 2027-02-26 route `calls` can no longer deliver diarization: its last capable target `oa/gpt-4o-transcribe-diarize` ends.",
  );
  assert.equal(
    texts(lost, Date.parse("2027-02-26"))[0],
    "Since 2027-02-26 route `calls` cannot deliver diarization: its last capable target `oa/gpt-4o-transcribe-diarize` has ended.",
  );
  const kept = await radar({ calls: { targets: [...calls.calls.targets, "aai/assemblyai-stt-3-7"] } }).list();
  assert(
    kept.every(({ languages }) => languages?.includes("en") === false),
    "another target keeps both in its languages",
  );
});

test("retirement.entries: of a route that loses its last target the whole is one entry, with everything that goes with it", async () => {
  const [lost, ...others] = await radar({ calls: { targets: ["oa/whisper-1", "oa/gpt-4o-transcribe"] } }).list();
  assert(lost !== undefined && others.length === 0);
  assert.equal(lost.feature, "transcription");
  assert.deepEqual(lost.features, [
    "transcription",
    "timestamps.word",
    "timestamps.segment",
    "multichannel",
    "streaming",
    "translation",
  ]);
  assert.deepEqual(
    lost.targets.map(({ model }) => model),
    ["whisper-1", "gpt-4o-transcribe"],
  );
  assert.match(texts([lost])[0] ?? "", /can no longer transcribe: its last capable targets/u);
  const [chat] = await radar({ assist: { targets: ["oa/gpt-4o"] } }).list();
  assert.equal(chat?.feature, "chat");
  assert.deepEqual(ids(await radar({ calls: { targets: ["dg/nova-3"] } }).list()), [], "nothing ends");
});

test("retirement.languages: where other targets remain, the loss names the languages in which it happens", async () => {
  const [lost, ...others] = await radar({ calls: { targets: ["oa/gpt-4o-transcribe", "dg/nova-3"] } }).list();
  assert(lost !== undefined);
  assert.equal(lost.feature, "language");
  assert(lost.languages?.includes("cy") === true && !lost.languages.includes("en"), String(lost.languages));
  assert.match(texts([lost])[0] ?? "", /can no longer transcribe in .*cy/u);
  // nova-3 streams in its own languages, so that only the others lose it, which the entry of the languages implies.
  assert.deepEqual(
    ids(others).filter((id) => id.includes("streaming")),
    [],
  );
});

test("retirement.entries: a date that has passed is reported as long as the route has the target", async () => {
  const [lost] = await radar({ old: { targets: ["aai/universal-3-pro"] } }).list();
  assert.equal(lost?.date, "2026-09-02");
  assert.match(texts([lost])[0] ?? "", /^Since 2026-09-02 route `old` cannot transcribe/u);
});

test("retirement.redirect, retirement.second-hand: a name that another model will answer is announced, with the evidence", async () => {
  const [redirect, ...others] = await radar({ assist: { targets: ["gm/gemini-2.5-pro"] } }).list();
  assert(redirect !== undefined && others.length === 0);
  assert.deepEqual([redirect.kind, redirect.feature, redirect.evidence], ["redirect", "model", "second_hand"]);
  assert.equal(redirect.id, "2026-12-01/platform/assist/model/second_hand");
  assert.equal(
    texts([redirect])[0],
    "From 2026-12-01 another model answers targets of route `assist`: `gm/gemini-2.5-pro` by `gemini-3.8-flash`. The date is second-hand: the provider has not confirmed it.",
  );
});

const MEETINGS = { purpose: "meetings", route: "calls", defaults: { diarization: true } };
const TOGETHER = { purpose: "both", route: "calls", defaults: { diarization: true, timestamps: "word" } };

test("retirement.users: a loss lists the apps by their route, override and purposes, those of keys too, and the purposes that are refused", async () => {
  const routes = {
    calls: { targets: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"] },
    plain: { targets: ["dg/nova-3"], purposes: [{ ...MEETINGS, purpose: "shared" }] },
  };
  const lost = await radar(routes).list([
    usersOf("ws_a", { route: "calls" }),
    usersOf("ws_b", { route: "plain", audioInputOverride: "calls", purposes: [MEETINGS] }),
    usersOf("ws_c", { route: "plain" }, { keys: [{ route: "calls" }] }),
    usersOf("ws_d", { route: "calls", audioInputOverride: "plain" }),
    usersOf("ws_e", {
      purposes: [
        { ...MEETINGS, isPublished: false },
        { ...MEETINGS, purpose: "plainly", defaults: {} },
      ],
    }),
  ]);
  const diarization = lost.find(({ feature }) => feature === "diarization");
  assert.deepEqual(
    diarization?.apps.map(({ slug, uses }) => [slug, uses]),
    [
      ["ws_a-app", ["route"]],
      ["ws_b-app", ["audio_input_override", "purpose/meetings"]],
      ["ws_c-app", ["purpose/shared", "route"]],
      ["ws_d-app", ["purpose/shared"]],
      ["ws_e-app", ["purpose/plainly"]],
    ],
  );
  assert.deepEqual(diarization?.purposes, [
    { label: "meetings", isRefused: true },
    { label: "plainly", isRefused: false },
    { label: "shared", isRefused: true },
  ]);
});

test("retirement.data-policy: an app or purpose whose data policy excludes the remaining targets loses what the route keeps", async () => {
  // AssemblyAI's own address proves nothing about training.
  const never = { training: "never" } as const;
  const strict = { purpose: "strict", route: "calls", defaults: {}, dataPolicy: never };
  const { list, propose } = radar({
    calls: { targets: ["oa/gpt-4o-transcribe", "aai/assemblyai-stt-3-7"] },
    by: { targets: ["dg/nova-3"], purposes: [strict] },
  });
  const plain = await list([usersOf("ws_a", { route: "calls" })]);
  const whole = (all: readonly Retirement[]) => all.filter(({ feature }) => feature === "transcription");
  assert.deepEqual(
    whole(plain).map(({ id, purposes }) => [id, purposes]),
    [["2027-02-26/platform/calls/transcription/data_policy(training=never)", [{ label: "strict", isRefused: true }]]],
  );
  const lost = await list([
    usersOf("ws_a", { route: "calls" }),
    usersOf("ws_b", { route: "calls", dataPolicy: never }),
    usersOf("ws_c", { route: "by" }),
    usersOf("ws_d", { route: "calls", dataPolicy: { regions: ["eu"] } }),
  ]);
  const [entry, ...others] = whole(lost);
  assert(entry !== undefined && others.length === 0, ids(lost).join());
  assert.deepEqual(
    entry.apps.map(({ slug, uses }) => [slug, uses]),
    [
      ["ws_b-app", ["route"]],
      ["ws_c-app", ["purpose/strict"]],
    ],
  );
  assert.match(texts([entry])[0] ?? "", /can no longer transcribe with the data policy training=never: its last/u);
  assert.equal(propose(entry).proposal?.target.model, "gpt-transcribe");
  const unconstrained = lost.flatMap(({ id, apps }) => (id.includes("data_policy") ? [] : apps));
  assert.deepEqual([...new Set(unconstrained.map(({ slug }) => slug))], ["ws_a-app"]);
});

test("retirement.data-policy: a loss that a data policy does not change is one entry for all apps", async () => {
  const lost = await radar({ calls: { targets: ["oa/whisper-1"] } }).list([
    usersOf("ws_a", { route: "calls" }),
    usersOf("ws_b", { route: "calls", dataPolicy: { training: "never" } }),
    usersOf("ws_c", { route: "calls", dataPolicy: { retention: "none" } }),
  ]);
  assert.deepEqual(ids(lost), ["2027-02-26/platform/calls/transcription"]);
  assert.deepEqual(
    lost[0]?.apps.map(({ slug }) => slug),
    ["ws_a-app", "ws_b-app"],
    "the third could never use the target",
  );
});

test("retirement.purposes: features that a purpose requires together may be lost although the route keeps each of them", async () => {
  const connections = {
    ...CONNECTIONS,
    // Diarization and word times, but never both.
    half: {
      kind: "deepgram",
      models: {
        speakers: { capabilities: ["audio_input"], features: { diarization: true, timestamps: [] } },
        words: { capabilities: ["audio_input"], features: { timestamps: ["word"] } },
      },
    },
  } as const;
  const calls = { targets: ["aai/universal-3-pro", "half/speakers", "half/words"], purposes: [TOGETHER] };
  const lost = await radar({ calls }, connections).list();
  const together = lost.find(({ feature }) => feature === "diarization+timestamps.word");
  assert.equal(together?.id, "2026-09-02/platform/calls/diarization+timestamps.word");
  assert.deepEqual(together?.purposes, [{ label: "both", isRefused: true }]);
  assert(!lost.some(({ feature }) => feature === "diarization" || feature === "timestamps.word"), ids(lost).join());
});

test("retirement.scope, retirement.view: a workspace's own routes and connections are judged for it alone, shared ones for everyone", async () => {
  const connections = {
    ...CONNECTIONS,
    "oa@ws_own": { kind: "deepgram", scope: "ws_own" },
    "other@ws_routes": { kind: "openai", scope: "ws_routes" },
  } as const;
  const routes = {
    shared: { targets: ["oa/whisper-1"] },
    mine: { targets: ["other/whisper-1"], scope: "ws_routes" },
  };
  const { list } = radar(routes, connections);
  const users = [
    usersOf("ws_own", { route: "shared" }),
    usersOf("ws_routes", { route: "mine" }),
    usersOf("ws_a", { route: "shared" }),
  ];
  const lost = await list(users);
  assert.deepEqual(ids(lost), ["2027-02-26/platform/shared/transcription", "2027-02-26/ws_routes/mine/transcription"]);
  // Deepgram has no model of that name, so the own connection has nothing to lose.
  assert.deepEqual(
    lost[0]?.apps.map(({ slug }) => slug),
    ["ws_a-app"],
  );
  assert.deepEqual([lost[0]?.workspace, lost[0]?.isSharedRoute], [null, true]);
  assert.deepEqual([lost[1]?.workspace, lost[1]?.isSharedRoute], [workspaceId("ws_routes"), false]);
});

test("retirement.view: an app whose plan never paid for a target loses nothing with it", async () => {
  const connections = { ...CONNECTIONS, el: { kind: "elevenlabs" } } as const;
  const { list } = radar({ calls: { targets: ["oa/whisper-1", "el/scribe_v2"] } }, connections);
  const lost = await list([
    usersOf("ws_plan", { route: "calls" }, { hasPlan: true }),
    usersOf("ws_free", { route: "calls" }),
  ]);
  const translation = lost.filter(({ feature }) => feature === "translation");
  assert.deepEqual(ids(translation), ["2027-02-26/platform/calls/translation"]);
  assert.deepEqual(
    translation[0]?.apps.map(({ slug }) => slug),
    ["ws_free-app"],
  );
});

test("retirement.proposal: the named successor is proposed first if it keeps everything, with the decision of the changed route, and nothing changes", async () => {
  const routes = { calls: { targets: ["oa/gpt-4o-transcribe", "oa/gpt-4o-mini-transcribe"] } };
  const directory = directoryOf(CONNECTIONS, routes);
  const before = JSON.stringify([...directory.routesOf("platform").values()]);
  const { list, propose } = radarOf(directory);
  const [lost] = await list();
  assert(lost !== undefined);
  const { proposal } = propose(lost);
  assert(proposal !== null);
  assert.deepEqual(
    [proposal.target.connection, proposal.target.model, proposal.target.position],
    ["oa", "gpt-transcribe", 1],
  );
  assert.deepEqual([...proposal.keeps].toSorted(), [...lost.features].toSorted());
  assert.deepEqual(proposal.lacks, []);
  assert.deepEqual(proposal.dryRun.outcome, { status: 200, code: null, position: 1 });
  assert.deepEqual(
    proposal.dryRun.candidates.map(({ position, eligible, missing, model }) => [position, eligible, missing, model]),
    [
      [1, true, [], "gpt-transcribe"],
      [2, false, ["model_retired"], "gpt-4o-mini-transcribe"],
    ],
  );
  assert.equal(JSON.stringify([...directory.routesOf("platform").values()]), before);
});

test("retirement.proposal: a successor that lacks the feature is skipped, models with a known end, without a credential or simulated are never proposed", async () => {
  const diarized = { calls: { targets: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"] } };
  const proposedWith = async (connections: Connections) => {
    const { list, propose } = radar(diarized, connections);
    const lost = (await list()).find(({ feature }) => feature === "diarization");
    assert(lost !== undefined);
    return propose(lost);
  };
  const { proposal } = await proposedWith({ oa: { kind: "openai" }, aai: { kind: "assemblyai" } });
  assert.equal(proposal?.target.connection, "aai");
  assert.notEqual(proposal.target.model, "universal-3-pro", "ended");
  for (const connections of [
    { oa: { kind: "openai" } },
    { oa: { kind: "openai" }, aai: { kind: "assemblyai", credential: null } },
    { oa: { kind: "openai" }, box: { kind: "sandbox" } },
  ] as const) {
    const none = await proposedWith(connections);
    assert.deepEqual(
      [none.proposal, none.unavailableFeatures],
      [null, ["diarization"]],
      Object.keys(connections).join(),
    );
  }
});

test("providers.declared-features: a chat model that is declared on a provider without chats makes no target for chats", async () => {
  const speaking = { kind: "deepgram", models: { talker: { capabilities: ["audio_input", "chat"] } } } as const;
  const connections = { ...CONNECTIONS, dg: speaking };
  const routes = { calls: { targets: ["dg/talker", "oa/whisper-1"], translateViaChat: true } };
  assert.equal(directoryOf(connections, routes).routesOf("platform").get("calls")?.targets[0]?.chat, null);
  const { list, propose } = radar(routes, connections);
  for (const each of await list()) propose(each);
});

test("retirement.thresholds: each retirement crosses 90, 30 and 7 days once, and the narrowest counts", async () => {
  const lost = (
    await radar({ calls: { targets: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"] } }).list()
  ).slice(0, 1);
  const announced = new Set<string>();
  const announcedOn: string[] = [];
  for (let at = Date.parse("2026-11-01"); at < Date.parse("2027-04-01"); at += 86_400_000) {
    for (const { cause, threshold, daysLeft } of crossings(lost, at, (each) => announced.has(each))) {
      announced.add(cause);
      announcedOn.push(`${new Date(at).toISOString().slice(0, 10)} ${threshold} ${daysLeft}`);
    }
  }
  assert.deepEqual(announcedOn, ["2026-11-28 90 90", "2027-01-27 30 30", "2027-02-19 7 7"]);
  assert.deepEqual([...announced][0], "retirement/2027-02-26/platform/calls/diarization/90");
  const late = crossings(lost, Date.parse("2027-02-01"), () => false);
  assert.deepEqual(
    late.map(({ threshold }) => threshold),
    [30],
    "a route that is created late is announced at once",
  );
  const over = await radar({ assist: { targets: ["gm/gemini-3.5-flash"] } }).list();
  assert.equal(over[0]?.kind, "redirect");
  assert.deepEqual(
    crossings(over, TODAY, () => false),
    [],
    "a redirect without a loss is over when it has happened",
  );
});

test("retirement.by-router: what was judged is remembered while the route and the prices are the same", () => {
  const routes = { calls: { targets: ["oa/whisper-1"] } };
  let directory = directoryOf(CONNECTIONS, routes);
  let prices = createPriceBook([]);
  const judge = createRouteJudge({ directory: () => directory, prices: () => prices, chatProviders });
  const lossesNow = () => {
    const route = directory.routesOf("platform").get("calls");
    assert(route !== undefined);
    return judge.lossesOf({ scope: "platform", hasPlan: false }, route, []);
  };
  const first = lossesNow();
  assert.equal(lossesNow(), first);
  directory = directoryOf(CONNECTIONS, { ...routes, other: { targets: ["dg/nova-3"] } });
  assert.equal(lossesNow(), first, "another route was added");
  prices = createPriceBook([]);
  assert.notEqual(lossesNow(), first);
  directory = directoryOf(CONNECTIONS, { calls: { targets: ["oa/whisper-1", "oa/gpt-transcribe"] } });
  assert.deepEqual(
    lossesNow().map(({ feature }) => feature),
    ["timestamps.word", "timestamps.segment", "translation"],
  );
});
