// CSV and data agree to the last digit, whatever is grouped by.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { sql } from "kysely";
import { USAGE_GROUPS } from "../../src/contract/usage.ts";
import { parseUsd } from "../../src/metering/money.ts";
import { usageCsv, usageOf } from "../../src/requests/usage.ts";
import { AMOUNT_NAMES } from "../../src/requests/store/usage-amounts.ts";
import { rollUsage } from "../../src/requests/store/usage-hours.ts";
import { openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";
import { countOneByOne, insertAttempts, someAttempt, somePlaces } from "./attempts.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  await setClock(database, "2026-11-20T12:00:00Z");
});
after(() => database.close());

const times = fc
  .date({ min: new Date("2026-10-28T00:00:00Z"), max: new Date("2026-11-20T11:00:00Z"), noInvalidDate: true })
  .map((date) => new Date(Math.floor(date.getTime())));

/** Thousandths of a second and billionths of a dollar, so that sums are whole. */
const exact = (column: string, cell: string): bigint =>
  column.endsWith("_usd")
    ? (parseUsd(cell) ?? assert.fail(cell))
    : column.endsWith("_seconds")
      ? (parseUsd(cell) ?? assert.fail(cell)) / 1_000_000n
      : BigInt(cell);

test("usage.csv, usage.classes-separate, usage.estimated: the rows of the CSV are those of the data, and add up to its totals and to the attempts, class by class", async () => {
  const places = somePlaces(3);
  await fc.assert(
    fc.asyncProperty(
      fc.array(someAttempt(places, times), { minLength: 1, maxLength: 30 }),
      fc.subarray([...USAGE_GROUPS], { minLength: 0 }),
      fc.boolean(),
      async (attempts, groups, isRolled) => {
        await sql`delete from attempts`.execute(database.db);
        await sql`truncate usage_hours, usage_days`.execute(database.db);
        await sql`update usage_progress set rolled_until = '-infinity', barrier_at = null, barrier_xid = null`.execute(
          database.db,
        );
        await insertAttempts(database, attempts);
        if (isRolled) while (await rollUsage(database));
        if (isRolled) while (await rollUsage(database));
        const table = await usageOf({ database }, null, { group_by: groups });
        const [head = "", ...lines] = usageCsv(table).split("\r\n");
        assert.equal(lines.pop(), "");
        assert.equal(lines.length, table.data.length);
        const columns = head.split(",");
        assert.deepEqual(columns.slice(0, groups.length), groups);
        const rows = lines.map((line) => {
          const cells = line.split(",");
          return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ""]));
        });
        for (const [index, row] of rows.entries()) {
          const data = table.data[index] as Readonly<Record<string, string | number | null>>;
          for (const column of columns) assert.equal(row[column], String(data[column] ?? ""), column);
        }
        const counted = countOneByOne(attempts, ({ billingClass }) => billingClass);
        assert.equal(table.totals.length, counted.size);
        for (const total of table.totals) {
          const ofClass = rows.filter((row) => row["billing_class"] === total.billing_class);
          for (const column of columns.slice(groups.length + 1)) {
            const sum = ofClass.map((row) => exact(column, row[column] ?? "")).reduce((a, b) => a + b, 0n);
            const reported = String((total as Readonly<Record<string, string | number>>)[column]);
            assert.equal(sum, exact(column, reported), `${column} of ${total.billing_class}`);
          }
          const truth = counted.get(total.billing_class);
          assert.equal(exact("charge_usd", total.charge_usd), truth?.charge_nano_usd);
          assert.equal(BigInt(Math.round(total.audio_seconds * 1000)), truth?.audio_ms);
          assert.equal(BigInt(total.estimated_input_tokens), truth?.estimated_input_tokens);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("usage.csv-quoting: a cell with a comma, a quote or a line break is quoted (RFC 4180)", async () => {
  await sql`delete from attempts`.execute(database.db);
  await sql`truncate usage_hours, usage_days`.execute(database.db);
  const [attempt] = fc.sample(someAttempt(somePlaces(1), fc.constant(new Date("2026-11-20T11:00:00Z"))), 1);
  assert(attempt !== undefined);
  await insertAttempts(database, [{ ...attempt, model: 'a "b", c\nd' }]);
  await sql`update usage_progress set rolled_until = '-infinity'`.execute(database.db);
  const csv = usageCsv(await usageOf({ database }, null, { group_by: ["model"] }));
  assert(csv.split("\r\n")[1]?.startsWith('"a ""b"", c\nd",'), csv);
});

test("usage.bounds: an answer of too many rows is refused, with what to reduce", async () => {
  await sql`truncate usage_hours, usage_days, attempts`.execute(database.db);
  const amounts = sql.raw(AMOUNT_NAMES.join(", "));
  const ones = sql.raw(AMOUNT_NAMES.map(() => "1").join(", "));
  await sql`insert into usage_days (workspace_id, app_id, day, key_id, provider, model, billing_class, capability, ${amounts})
    select 'ws', 'app', '2026-11-19T00:00:00Z', 'key_' || n, 'deepgram', 'nova-3', 'metered', 'audio_input', ${ones}
    from generate_series(1, 50001) as n`.execute(database.db);
  await assert.rejects(usageOf({ database }, null, { group_by: ["key"] }), /more than 50000 rows/u);
  assert.equal((await usageOf({ database }, null, { group_by: ["app"] })).totals[0]?.attempts, 50_001);
});
