// Walks every date of the catalogue over random routes and data policies of apps: what the app could still ask of its route the day before and is refused from
// then on, the radar lists with the app.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brand } from "../../src/contract/ids.ts";
import { modelsOf } from "../../src/directory/models-of.ts";
import { settingsOf } from "../../src/directory/stored-schemas.ts";
import { permanentLackFor } from "../../src/gateway/calls/target-unavailability.ts";
import { chatRequest } from "../../src/gateway/chat/chat-request.ts";
import { chatPlanner } from "../../src/gateway/chat/plan-chat.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import { chatProviders } from "../../src/providers/registry.ts";
import { decideChatRoute } from "../../src/routing/decide-chat-route.ts";
import { decideRoute } from "../../src/routing/decide-route.ts";
import { seeded } from "../faults/seeded.ts";
import { ADAPTERS, directoryOf, radarOf, usersOf, workspaceId } from "./radar-fixtures.ts";

const CONNECTIONS = {
  openai: { kind: "openai" },
  deepgram: { kind: "deepgram" },
  assemblyai: { kind: "assemblyai" },
  elevenlabs: { kind: "elevenlabs" },
  anthropic: { kind: "anthropic" },
} as const;
const POLICIES = [
  { training: "never" },
  { retention: 30 },
  { retention: "deletable" },
  { training: "never", retention: 30 },
  { regions: ["us"] },
] as const;
const ROUTES = 60;

const catalogue = Object.entries(CONNECTIONS).flatMap(([connection, { kind }]) =>
  modelsOf({ kind, models: {} }, ADAPTERS).map(({ name, speech, chat }) => ({
    name: `${connection}/${name}`,
    ends: [speech?.life, chat?.life].flatMap((life) => life?.endsOn?.date ?? []),
  })),
);
const ending = catalogue.filter(({ ends }) => ends.length > 0);
const dates = [...new Set(ending.flatMap(({ ends }) => ends))].toSorted();
const prices = createPriceBook([]);
const lacksOn = (day: string) =>
  permanentLackFor({ prices: () => prices, modelClock: () => new Date(day) }, { testMode: false, hasPlan: false });
const NO_PURPOSE = { body: null, header: null, policy: null };
const request = chatRequest({ messages: [{ role: "user", content: "Hello" }] }, false);

test("retirement.data-policy, retirement.announced: at random, whatever an app's data policy loses is listed with the app, and nothing that it never had", async () => {
  const random = seeded(26);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] ?? assert.fail("there is none");
  let losses = 0;
  for (let made = 0; made < ROUTES; made += 1) {
    const targets = [pick(ending).name, pick(catalogue).name, pick(made % 2 === 0 ? ending : catalogue).name];
    const dataPolicy = pick(POLICIES);
    const directory = directoryOf(CONNECTIONS, { calls: { targets: [...new Set(targets)] } });
    const app = { id: brand("app", "app_ws"), name: "ws", ...settingsOf({ route: "calls", dataPolicy }) };
    const context = directory.contextOf(workspaceId("ws"), app, settingsOf({}).routing);
    const audio = (day: string): boolean =>
      decideRoute(context, { task: "transcribe", fields: {}, purpose: NO_PURPOSE, audio: null }, lacksOn(day)).ok;
    const chat = (day: string): boolean =>
      decideChatRoute(
        context,
        {
          request,
          purpose: NO_PURPOSE,
          profile: null,
          plan: chatPlanner({ chatProviders, prices: () => prices }, request),
        },
        lacksOn(day),
      ).ok;
    const listed = (await radarOf(directory).list([usersOf("ws", { route: "calls", dataPolicy })])).filter(
      ({ apps, kind, evidence }) => apps.length > 0 && kind === "loss" && evidence === "vendor",
    );
    for (const [feature, isServed] of [
      ["transcription", audio],
      ["chat", chat],
    ] as const) {
      const end = dates.find((date, index) => !isServed(date) && isServed(dates[index - 1] ?? "0001-01-01"));
      const entry = listed.find((each) => each.feature === feature && each.languages === null);
      const about = `${feature} of ${targets.join()} with ${JSON.stringify(dataPolicy)}`;
      assert.equal(entry?.date, end, about);
      if (end !== undefined) losses += 1;
    }
  }
  assert.ok(losses > 10, `${losses} losses were compared`);
});
