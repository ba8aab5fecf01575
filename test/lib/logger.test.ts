// The log's allow-list: what is not listed is not written, whatever its name and wherever it hides.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { GatewayError } from "../../src/contract/errors.ts";
import { createLogger, LOG_FIELDS } from "../../src/lib/logger.ts";
import { makeTenant, openTestDatabase } from "../harness/postgres/database.ts";

const CANARY = "canary-4711-hush";

function logged(write: (logger: ReturnType<typeof createLogger>) => void): {
  readonly text: string;
  readonly json: Record<string, unknown>;
} {
  const lines: string[] = [];
  write(createLogger({ write: (line: string) => lines.push(line) }));
  assert.equal(lines.length, 1);
  return { text: lines.join(""), json: JSON.parse(lines.join("")) as Record<string, unknown> };
}

test("logs.allow-list: listed fields are written, others and everything inside a structure are not", () => {
  const { text, json } = logged((logger) =>
    logger.info(
      {
        request_id: "req_1",
        authorization: CANARY,
        url: CANARY,
        body: { text: CANARY },
        reason: { deep: CANARY },
        __proto__: { x: CANARY },
      },
      "said",
    ),
  );
  assert.doesNotMatch(text, /hush/u);
  assert.deepEqual(Object.keys(json).toSorted(), ["level", "msg", "reason", "request_id", "time"]);
  assert.equal(json["reason"], null);
});

test("logs.field-length: every listed field fits one line", () => {
  for (const name of LOG_FIELDS) {
    const { json } = logged((logger) => logger.info({ [name]: "x".repeat(100_000) }));
    assert.equal(String(json[name]).length, 300);
  }
});

test("logs.fields-documented: docs/operations.md describes every listed field", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const [, section = ""] = /^## Logs$(.*?)^## /msu.exec(page) ?? [];
  for (const name of LOG_FIELDS) assert.ok(section.includes(`\`${name}\``), name);
});

test("logs.errors: an error is logged with its kind, code and place; nothing that a library quotes, at any depth", async () => {
  const database = await openTestDatabase();
  const { workspaceId } = await makeTenant(database);
  const fromDatabase = await database.db
    .insertInto("workspaces")
    .values({ id: workspaceId, slug: CANARY, managed_by: CANARY })
    .execute()
    .catch((error: unknown) => error);
  const fromCast = await database.db
    .selectFrom("workspaces")
    .where("created_at", "=", CANARY as never)
    .execute()
    .catch((error: unknown) => error);
  await database.close();
  const fromParser = (() => {
    try {
      return JSON.parse(`${CANARY}{`) as unknown;
    } catch (error) {
      return error;
    }
  })();
  const fromSchema = z.strictObject({ a: z.string() }).safeParse({ [CANARY]: 1 }).error;
  const extra = Object.assign(new Error("ours"), { body: CANARY, config: { key: CANARY } });
  const nested = new GatewayError("INTERNAL", { message: "The fault.", cause: fromParser });
  for (const err of [fromDatabase, fromCast, fromParser, fromSchema, extra, nested, CANARY, { message: CANARY }]) {
    const { text, json } = logged((logger) => logger.error({ err }, "failed"));
    assert.doesNotMatch(text, /hush/u, String(err));
    assert.equal(typeof (json["err"] as { type: unknown }).type, "string");
  }
  const { json } = logged((logger) => logger.error({ err: nested }, "failed"));
  const err = json["err"] as {
    readonly message: string;
    readonly stack: readonly string[];
    readonly cause: { type: string };
  };
  assert.equal(err.message, "The fault.");
  assert.match(err.stack[0] ?? "", /logger\.test\.ts:\d+:\d+/u);
  assert.equal(err.cause.type, "SyntaxError");
});

test("logs.allow-list: in tests an unlisted field is a fault", () => {
  const logger = createLogger({ write: () => undefined }, { isStrict: true });
  assert.throws(() => logger.info({ unlisted: 1 }), /no field unlisted/u);
});

test("logs.times: each line has its own time, also the next millisecond's, and one before it when the clock is set back", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000_000_000 });
  const lines: string[] = [];
  const logger = createLogger({ write: (line: string) => lines.push(line) });
  for (const now of [1_000_000_000_000, 1_000_000_000_000, 1_000_000_000_001, 999_999_999_999]) {
    t.mock.timers.setTime(now);
    logger.info({ task: "look" });
  }
  const times = lines.map((line) => (JSON.parse(line) as { readonly time: string }).time);
  assert.deepEqual(times, [
    "2001-09-09T01:46:40.000Z",
    "2001-09-09T01:46:40.000Z",
    "2001-09-09T01:46:40.001Z",
    "2001-09-09T01:46:39.999Z",
  ]);
});
