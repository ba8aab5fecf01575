// Answers of a gateway that is newer than the command line [cli.newer-gateway]: new fields are ignored, wrong ones are not.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { z } from "zod";
import { parseIgnoringUnknownKeys } from "../../src/lib/json/parse-ignoring-unknown-keys.ts";
import { answerJson, fakeGateway, run } from "./fake-gateway.ts";

const row = z.strictObject({ key: z.string(), facts: z.strictObject({ seconds: z.number() }).nullable() });
const table = z.strictObject({ object: z.literal("table"), rows: z.array(row) });
const named = z.strictObject({ object: z.literal("table"), rows: z.array(row.extend({ app: z.string() })) });

test("cli.newer-gateway: fields that a newer gateway adds are ignored, wherever they are", () => {
  const member = fc.dictionary(fc.constantFrom("new", "newer", "newest"), fc.jsonValue());
  const rows = fc.array(fc.tuple(member, member));
  fc.assert(
    fc.property(member, rows, (more, added) => {
      const known = { object: "table", rows: added.map(() => ({ key: "k", facts: { seconds: 1 } })) };
      const document = {
        ...known,
        ...more,
        rows: added.map(([inRow, inFacts]) => ({ key: "k", facts: { seconds: 1, ...inFacts }, ...inRow })),
      };
      assert.deepEqual(parseIgnoringUnknownKeys(table, document).data, known);
    }),
  );
});

test("cli.newer-gateway: of several forms an answer has the one that knows most of it", () => {
  const document = { object: "table", rows: [{ key: "k", facts: null, app: "notes", new: 1 }] };
  const rows = [{ key: "k", facts: null, app: "notes" }];
  assert.deepEqual(parseIgnoringUnknownKeys(z.union([table, named]), document).data, { object: "table", rows });
});

test("cli.newer-gateway: an answer that lacks fields, or has them in another form, is not understood, whatever it adds", () => {
  for (const document of [null, [], "table", { object: "table" }, { object: "list", rows: [], new: 1 }])
    assert.equal(parseIgnoringUnknownKeys(table, document).success, false, JSON.stringify(document));
  const wrong = { object: "table", new: 1, rows: [{ key: 7, facts: null, new: 1 }] };
  assert.equal(parseIgnoringUnknownKeys(z.union([table, named]), wrong).success, false);
});

test("cli.newer-gateway: a command prints the answer of a newer gateway, and reports another answer as not understood", async () => {
  const health = { object: "provider_health", checked_at: "now", since: "2026-11-23T00:00:00.000Z", sampled: false };
  const lists = { circuits: [], pauses: [], models: [] };
  await using newer = await fakeGateway((response) => answerJson(response, 200, { ...health, ...lists, new: [] }));
  const args = (url: string) => ["providers", "health", "--admin-url", url, "--api-key", "key"];
  const shown = await run(args(newer.url));
  assert.equal(shown.exitCode, 0, shown.stderr);
  await using other = await fakeGateway((response) => answerJson(response, 200, { ...health, new: [] }));
  const refused = await run(args(other.url));
  assert.equal(refused.exitCode, 7);
  assert.match(refused.stderr, /is no .* that this version supports/u);
});
