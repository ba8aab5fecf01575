// Budgets as `patchbay usage` prints them [cli.usage]: each line says what is true of its own limit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetLines } from "../../src/cli/inspect/budget-lines.ts";
import type { SpentBudget } from "../../src/contract/usage.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";

const BUDGET: SpentBudget = {
  period: "month",
  limit_usd: "50.00",
  remaining_usd: "27.50",
  limit_audio_seconds: 100,
  remaining_audio_seconds: 1,
  limit_tokens: null,
  remaining_tokens: null,
  soft_limit: 0.8,
  soft_limit_reached: true,
  resets_at: "2026-12-01T00:00:00.000Z",
  spent_usd: "22.50",
  spent_audio_seconds: 99.999,
  spent_tokens: 0,
  forecast: {
    spent_usd: "67.508123",
    spent_audio_seconds: 299.997,
    spent_tokens: 0,
    limit_reached_at: "2026-11-11T00:00:08.640Z",
  },
};

test("cli.usage: the limit that is reached first says when, and one at its soft limit says so; a full limit is 100 % and not less", () => {
  assert.equal(
    budgetLines([BUDGET]),
    [
      "budget (month)  [#########...........] 45 % 22.50 of 50.00 USD; forecast: 67.50 USD by 2026-12-01 00:00 UTC",
      "budget (month)  [###################.] 99 % 99.999 of 100 s of audio; forecast: 300 s of audio by 2026-12-01 00:00 UTC; limit will be reached 2026-11-11 00:00 UTC; soft limit of 80 % reached",
      "",
    ].join("\n"),
  );
});

test("cli.usage, guides.outputs: the page shows such a line", () => {
  const day: SpentBudget = {
    ...BUDGET,
    period: "day",
    limit_usd: null,
    limit_audio_seconds: 60,
    spent_audio_seconds: 28.804,
    soft_limit: null,
    soft_limit_reached: false,
    resets_at: "2026-11-24T00:00:00.000Z",
    // At 05:36 UTC.
    forecast: {
      spent_usd: "0.00",
      spent_audio_seconds: 123.446,
      spent_tokens: 0,
      limit_reached_at: "2026-11-23T11:40:00.000Z",
    },
  };
  assert.deepEqual(shownOutputs("docs/reference/usage.md", "The answer"), [budgetLines([day]).trimEnd()]);
});

test("cli.usage: without a forecast none is printed; of a limit of zero nothing is spent; cents are kept where all lines have them", () => {
  const none = { ...BUDGET, limit_audio_seconds: null, forecast: null };
  assert.equal(budgetLines([none]), "budget (month)  [#########...........] 45 % 22.50 of 50.00 USD\n");
  const total = {
    ...none,
    period: "total" as const,
    resets_at: null,
    limit_usd: "0.00",
    spent_usd: "0.00",
    app: "app_1",
  };
  assert.equal(budgetLines([total]), `budget (total) of app_1  [${".".repeat(20)}] 0 % 0.00 of 0.00 USD\n`);
  const forecast = { spent_usd: "0.000733", spent_audio_seconds: 0, spent_tokens: 0, limit_reached_at: null };
  assert.match(budgetLines([{ ...none, forecast }]), /; forecast: 0\.000733 USD by 2026-12-01 00:00 UTC\n$/u);
  assert.equal(budgetLines([]), "");
});
