// What a change of the configuration costs an installation with many routes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDirectory } from "../../src/directory/snapshot.ts";
import { storedRoute } from "../../src/directory/stored-schemas.ts";
import { providers } from "../../src/providers/registry.ts";

const ROUTES = 20_000;
const WORKSPACE = "ws_many";

test("admin.routes-on-use: a request builds the routes that it names, and not every route of its workspace", () => {
  let built = 0;
  const definition = storedRoute.parse({ targets: [] });
  // Every build of a route reads its targets.
  const counted = Object.defineProperty({ ...definition }, "targets", {
    get: () => {
      built += 1;
      return [];
    },
  });
  const routes = Array.from({ length: ROUTES }, (_, index) => ({
    scope: WORKSPACE,
    id: `route-${index}`,
    version: 1,
    definition: counted,
  }));
  const shared = { scope: "platform", id: "route-7", version: 9, definition: counted };
  const directory = createDirectory(
    { accounts: [], routes: [...routes, shared], pauses: [] },
    { speech: providers, chat: new Map() },
  );
  const seen = directory.routesOf(WORKSPACE);
  assert.equal(seen.get("route-7")?.version, 1);
  assert.equal(seen.get("route-7"), directory.routesOf(WORKSPACE).get("route-7"));
  assert.equal(directory.routesOf("ws_other").get("route-7")?.version, 9);
  assert.equal(seen.get("none"), undefined);
  assert.equal(built, 2);
  assert.equal([...seen.values()].length, ROUTES);
});

test("admin.routes-on-use: equal targets of a workspace's routes are one object, and those that differ are not", () => {
  const target = { connection: "dg", model: "nova-3" };
  const definitions = [
    { targets: [target] },
    { targets: [target] },
    { targets: [{ ...target, settings: { tier: "other" } }] },
    { targets: [target], requireExactModel: true },
    { targets: [{ ...target, connection: "missing" }, target] },
  ];
  const account = {
    key: "platform/dg",
    connection: "dg",
    kind: "deepgram",
    baseUrl: null,
    isCallersAddress: false,
    credential: "secret",
    timeoutMs: 1000,
    models: {},
  } as const;
  const routes = definitions.map((definition, index) => ({
    scope: WORKSPACE,
    id: `route-${index}`,
    version: 1,
    definition: storedRoute.parse(definition),
  }));
  const directory = createDirectory(
    { accounts: [{ scope: "platform", account }], routes, pauses: [] },
    { speech: providers, chat: new Map() },
  );
  const [first, equal, ...others] = definitions.map((_, index) => directory.routesOf(WORKSPACE).get(`route-${index}`));
  assert.equal(first?.targets.length, 1);
  assert.equal(equal?.targets[0], first?.targets[0]);
  assert.deepEqual(
    others.map((route) =>
      route?.targets.map(({ position, settings, requiresExactModel }) => [position, settings, requiresExactModel]),
    ),
    [[[1, { tier: "other" }, false]], [[1, {}, true]], [[2, {}, false]]],
  );
});
