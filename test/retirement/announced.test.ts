// Walks every date of the catalogue, and the days around it, over random routes: what a route could do before and cannot do afterwards was announced 30 days
// earlier. What a route can do is asked of the router over a world in which ended models are gone and redirected names are other models.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { chatFields } from "../../src/contract/chat/checked-chat-fields.ts";
import type { TranslationFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { Directory } from "../../src/directory/snapshot.ts";
import { modelsOf } from "../../src/directory/models-of.ts";
import { permanentLackFor } from "../../src/gateway/calls/target-unavailability.ts";
import { chatRequest } from "../../src/gateway/chat/chat-request.ts";
import { chatPlanner } from "../../src/gateway/chat/plan-chat.ts";
import { crossings } from "../../src/gateway/retirement/crossings.ts";
import type { Retirement } from "../../src/gateway/retirement/list-retirements.ts";
import { expectedTranslation } from "../../src/gateway/translation/translation-prompt.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import type { ModelLife } from "../../src/providers/model-life.ts";
import { chatProviders } from "../../src/providers/registry.ts";
import { decideChatRoute } from "../../src/routing/decide-chat-route.ts";
import { decideAudio } from "../../src/routing/decide-translation.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import { seeded } from "../faults/seeded.ts";
import { audioContext } from "../routing/routing-fixtures.ts";
import { ADAPTERS, directoryOf, radarOf, type RouteFixture } from "./radar-fixtures.ts";

const DAY_MS = 86_400_000;
const ROUTES = 40;
const MOST_TARGETS = 4;
const NOTICE_DAYS = 30;

const CONNECTIONS = {
  openai: { kind: "openai" },
  deepgram: { kind: "deepgram" },
  assemblyai: { kind: "assemblyai" },
  elevenlabs: { kind: "elevenlabs" },
  gemini: { kind: "gemini" },
  anthropic: { kind: "anthropic" },
} as const;

interface Catalogued {
  /** `connection/model`. */
  readonly name: string;
  readonly isLive: boolean;
  readonly lives: readonly ModelLife[];
}

const CATALOGUE: readonly Catalogued[] = Object.entries(CONNECTIONS).flatMap(([connection, { kind }]) =>
  modelsOf({ kind, models: {} }, ADAPTERS).map(({ name, speech, chat }) => ({
    name: `${connection}/${name}`,
    isLive: speech?.streamsOnly === true,
    lives: [speech?.life, chat?.life].filter((life) => life !== undefined),
  })),
);
const LIVES = new Map(CATALOGUE.map(({ name, lives }) => [name, lives]));
const LIVE = new Set(CATALOGUE.filter(({ isLive }) => isLive).map(({ name }) => name));
const ENDING = CATALOGUE.filter(({ lives }) =>
  lives.some(({ endsOn, redirect }) => (endsOn ?? redirect) !== undefined),
);
const DATES = [
  ...new Set(ENDING.flatMap(({ lives }) => lives.flatMap(({ endsOn, redirect }) => [endsOn?.date, redirect?.date]))),
]
  .filter((date) => date !== undefined)
  .toSorted();

/** The name on a day: another one after a redirect, none after an end, by any evidence. */
function inWorldOf(day: string): (name: string) => readonly string[] {
  return (name) => {
    const lives = LIVES.get(name) ?? [];
    if (lives.some(({ endsOn }) => endsOn !== undefined && endsOn.date <= day)) return [];
    const redirect = lives.find((life) => life.redirect !== undefined && life.redirect.date <= day)?.redirect;
    const answering = redirect === undefined ? name : `${name.split("/")[0]}/${redirect.model}`;
    // A live model may be answered by one that has the name of a model for files: of that one nothing is known.
    return [LIVE.has(name) === LIVE.has(answering) ? answering : name];
  };
}

const AUDIO: readonly TranslationFields[] = [
  {},
  { diarization: true },
  { timestamps: "word" },
  { timestamps: "segment" },
  { redaction: ["pii"] },
  { redaction: ["numbers"] },
  { keyterms: ["Grace"] },
  { multichannel: true },
  { profanity_filter: true },
  { stream: true },
];
const LANGUAGES = [null, "en", "de", "ja", "cy", "sw", "yo"];
const MESSAGES = [{ role: "user", content: "Hello" }];
const TOOLS = [{ type: "function", function: { name: "look_up" } }];
const CHATS: readonly (readonly [feature: string | null, fields: object])[] = [
  [null, {}],
  ["tools", { tools: TOOLS }],
  ["tool_choice", { tools: TOOLS, tool_choice: "required" }],
  ["response_format.json_object", { response_format: { type: "json_object" } }],
  ["response_format.json_schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } } }],
];

interface Question {
  readonly text: string;
  readonly whole: "transcription" | "chat";
  readonly features: readonly string[];
  readonly language: string;
  /** The purpose's own request. */
  readonly isPurpose: boolean;
  readonly isProven: (directory: Directory, route: string, day: string) => boolean;
}

const prices = createPriceBook([]);
const lacksOn = (day: string) =>
  permanentLackFor({ prices: () => prices, modelClock: () => new Date(day) }, { testMode: false, hasPlan: false });

function audioQuestion(task: "transcribe" | "translate", fields: TranslationFields, purpose: string | null): Question {
  const { features } = requiredFeatures(fields, task);
  return {
    text: JSON.stringify([task, fields, purpose]),
    whole: "transcription",
    features,
    language: fields.language ?? "und",
    isPurpose: purpose !== null,
    isProven: (directory, id, day) => {
      const route = directory.routesOf("platform").get(id);
      if (route === undefined) return false;
      const asked = { body: purpose, header: null, policy: "strict" } as const;
      const question = { task, fields: purpose === null ? fields : {}, purpose: asked, audio: null };
      const plan = chatPlanner({ chatProviders, prices: () => prices }, expectedTranslation(1));
      return decideAudio(audioContext(route, [route]), question, plan, lacksOn(day)).decision.ok;
    },
  };
}

function chatQuestion(feature: string | null, fields: object): Question {
  const request = chatRequest(chatFields.parse({ messages: MESSAGES, ...fields }), false);
  return {
    text: `chat ${feature}`,
    whole: "chat",
    features: feature === null ? [] : [feature],
    language: "und",
    isPurpose: false,
    isProven: (directory, id, day) => {
      const route = directory.routesOf("platform").get(id);
      if (route === undefined) return false;
      const plan = chatPlanner({ chatProviders, prices: () => prices }, request);
      const question = { request, purpose: { body: null, header: null, policy: null }, profile: null, plan };
      return decideChatRoute(audioContext(route, [route]), question, lacksOn(day)).ok;
    },
  };
}

const GENERAL: readonly Question[] = [
  ...LANGUAGES.flatMap((language) => [
    ...AUDIO.map((fields) => audioQuestion("transcribe", language === null ? fields : { ...fields, language }, null)),
    audioQuestion("translate", language === null ? {} : { language }, null),
  ]),
  ...CHATS.map(([feature, fields]) => chatQuestion(feature, fields)),
];

interface RandomRoute extends RouteFixture {
  readonly question: Question;
}

function randomRoutes(seed: number): Readonly<Record<string, RandomRoute>> {
  const random = seeded(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): readonly T[] => list.slice(below(list.length)).slice(0, 1);
  return Object.fromEntries(
    Array.from({ length: ROUTES }, (_each, index) => {
      const names = Array.from({ length: 1 + below(MOST_TARGETS) }, () =>
        pick(random() < 0.6 ? ENDING : CATALOGUE).map(({ name }) => name),
      );
      const defaults: TranslationFields = Object.assign(
        {},
        ...Array.from({ length: 1 + below(3) }, () => pick(AUDIO)).flat(),
      );
      const { stream: _, ...purposeDefaults } = defaults;
      const id = `r${index}`;
      const settings = {
        translateViaChat: random() < 0.3,
        acceptWeak: random() < 0.3 ? ["diarization", "profanity_filter"] : [],
        purposes: [{ purpose: "own", route: id, defaults: purposeDefaults }],
      };
      const question = audioQuestion("transcribe", purposeDefaults, "own");
      return [id, { targets: [...new Set(names.flat())], ...settings, question }];
    }),
  );
}

function directoryOn(routes: Readonly<Record<string, RandomRoute>>, day: string | null): Directory {
  const inWorld = day === null ? (name: string) => [name] : inWorldOf(day);
  return directoryOf(
    CONNECTIONS,
    Object.fromEntries(
      Object.entries(routes).map(([id, route]) => [id, { ...route, targets: route.targets.flatMap(inWorld) }]),
    ),
  );
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const BEFORE_ALL = "2000-01-01";

test("retirement.announced: after every date of the catalogue each route does what it did, or the loss was announced 30 days before", async () => {
  const seed = randomInt(2 ** 31);
  const routes = randomRoutes(seed);
  const named = directoryOn(routes, null);
  const retirements = await radarOf(named).list();
  assert(DATES.length >= 8 && DATES.includes("2027-02-26"), DATES.join());

  /** On the last day on which it was still early enough, by the function that alerts use. */
  const isAnnounced = (date: string, explains: (retirement: Retirement) => boolean): boolean => {
    const noticeMs = Date.parse(date) - NOTICE_DAYS * DAY_MS;
    return crossings(retirements, noticeMs, () => false).some(
      ({ retirement }) => retirement.date === date && explains(retirement),
    );
  };
  const days = [...new Set(DATES.flatMap((date) => [-1, 0, 1].map((step) => dayAt(Date.parse(date) + step * DAY_MS))))];
  const proven = new Map<string, string>();
  let losses = 0;
  for (const day of [BEFORE_ALL, ...days.toSorted()]) {
    const world = directoryOn(routes, day);
    for (const [id, { question }] of Object.entries(routes)) {
      for (const each of [...GENERAL, question]) {
        const key = `${id} ${each.text}`;
        // The router of that day has to know it too: it judges the names, the world what answers them.
        if (each.isProven(named, id, day) && each.isProven(world, id, day)) {
          proven.set(key, day);
          continue;
        }
        const lastDay = proven.get(key);
        if (lastDay === undefined) continue;
        proven.delete(key);
        losses += 1;
        const date = DATES.find((candidate) => candidate > lastDay && candidate <= day) ?? "";
        const isSaid = isAnnounced(date, (retirement) => explains(retirement, id, each));
        assert(
          isSaid,
          `seed ${seed}: on ${day} route ${id} (${routes[id]?.targets.join(", ")}) lost ${key}, not announced`,
        );
      }
    }
  }
  assert(losses > 100, `seed ${seed}: only ${losses} losses`);

  // And what is announced for every language does happen.
  for (const { kind, date, feature, languages, route } of retirements) {
    if (kind !== "loss" || languages !== null) continue;
    const world = directoryOn(routes, date);
    const isAbout = ({ whole, features }: Question): boolean =>
      features.length === 0 ? whole === feature : features.length === 1 && features.includes(feature);
    for (const each of GENERAL.filter(isAbout))
      assert(
        !each.isProven(named, route.id, date) || !each.isProven(world, route.id, date),
        `seed ${seed}: ${route.id} still does ${each.text} on ${date}, which was announced as lost`,
      );
  }
});

function explains({ route, kind, features, feature, languages, purposes }: Retirement, id: string, asked: Question) {
  if (route.id !== id || kind !== "loss") return false;
  const { language, whole, isPurpose } = asked;
  if (isPurpose) return purposes.some(({ label, isRefused }) => label === "own" && isRefused);
  const isInLanguage = languages === null || languages.includes(language) || languages.includes("other");
  const names = [whole, ...asked.features, ...(whole === "transcription" ? ["language"] : [])];
  return isInLanguage && (names.includes(feature) || asked.features.some((each) => features.includes(each)));
}
