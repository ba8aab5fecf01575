// Budgets under a rush and kill -9 [metering.budget-hard-limit]: 500 requests at once against a budget for 100, transcriptions and chats; in every other trial
// a gateway is killed meanwhile and restarted. At most 100 pass, charges never exceed the limit, the others get 402; finally every reservation is resolved, and
// the budget matches the attempts plus what a dead process left unresolved.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Sandbox, startSandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { wav } from "../../audio/build-audio.ts";
import { completion, json, startChatUpstream } from "../../harness/chat-upstream.ts";
import { type Answer, postForm, postJson } from "../../harness/client.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded } from "../seeded.ts";
import { makeSurvivingDatabase } from "../surviving-database.ts";
import { type BudgetGateway, startBudgetGateway } from "./budget-gateway.ts";
import type { AppSums } from "./budget-protocol.ts";

/** `second`: requests after a kill, to the remaining gateways and the restarted one. */
const SIZES = { full: { first: 500, second: 200 }, short: { first: 150, second: 30 } };
const PAID = 100;
const LEAST_OF_LEASES = 100;
const COST_NANO_USD = 1_000_000;
const LIMIT_NANO_USD = PAID * COST_NANO_USD;
const OUTPUT_TOKENS = 100;
/** Number of answers after which the gateway dies; if only one serves. */
const KILL_AFTER = 60;
const LONGEST_CALL_MS = 600;

interface Trial {
  readonly app: string;
  readonly kind: "transcription" | "chat";
  readonly isKilled: boolean;
  /** At least so many pass without a kill. */
  readonly least: number;
}

interface Rush {
  readonly passed: number;
  readonly refused: number;
  /** Outcome unknown: the gateway died. */
  readonly lost: number;
  /** Refused by an overloaded gateway. */
  readonly overloaded: number;
  readonly others: readonly string[];
}

export async function runBudgets({ n, seed, isShort }: Pick<FaultOptions, "n" | "seed" | "isShort">): Promise<Trials> {
  const started = performance.now();
  const sizes = isShort ? SIZES.short : SIZES.full;
  const random = seeded(seed);
  await using opened = new AsyncDisposableStack();
  const database = await makeSurvivingDatabase();
  opened.defer(() => database.remove());
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const upstream = await startChatUpstream();
  opened.defer(() => upstream.close());
  upstream.behave(async (call) => {
    await wait(random() * LONGEST_CALL_MS);
    json(call, 200, completion({ role: "assistant", content: "Yes." }, "stop", usage));
  });
  const count = database.databaseUrl === null ? 1 : 3;
  // Trials with kills first: what they leave unresolved is resolved at the end.
  const trials = Array.from(
    { length: n },
    (_, index): Trial => ({
      app: `trial-${index}`,
      kind: index % 2 === 0 ? "transcription" : "chat",
      isKilled: index % 4 < 2,
      // With several gateways, one may hold a small part of a lease that a chat on another would need.
      least: index % 2 === 1 && count > 1 ? LEAST_OF_LEASES : PAID,
    }),
  );
  const file = fileOf(trials, sandbox, upstream.url);
  const start = async (index: number): Promise<BudgetGateway> => {
    const dataDir = join(database.dataDir, database.databaseUrl === null ? "data" : `data-${index}`);
    await mkdir(dataDir, { recursive: true });
    return startBudgetGateway({ dataDir, databaseUrl: database.databaseUrl, file });
  };
  const gateways: BudgetGateway[] = [];
  opened.defer(async () => void (await Promise.all(gateways.map((gateway) => gateway.kill()))));
  for (let index = 0; index < count; index += 1) gateways.push(await start(index));

  const rushes: Rush[] = [];
  for (const trial of trials) {
    slowDown(sandbox, random);
    const killed = Math.floor(random() * count);
    const victim = gateways[killed];
    const killAfter = 1 + Math.floor((random() * KILL_AFTER) / count);
    const first = await rush(gateways, trial, sizes.first, async (passed, gateway) => {
      if (trial.isKilled && passed === killAfter && gateway === victim) await victim.kill();
    });
    if (trial.isKilled) {
      // In case fewer passed.
      await victim?.kill();
      gateways[killed] = await start(killed);
      const second = await rush(gateways, trial, sizes.second, () => undefined);
      rushes.push(added(first, second));
    } else rushes.push(first);
  }
  for (const gateway of gateways.splice(0)) await gateway.close();
  const last = await start(0);
  gateways.push(last);
  const sums = new Map((await last.resolve()).map((each) => [each.app, each]));
  return {
    engine: database.engine,
    n,
    violations: trials.flatMap((trial, index) => judge(trial, rushes[index], sums.get(trial.app))),
    seconds: (performance.now() - started) / 1000,
    figures: figuresOf(trials, rushes, [...sums.values()]),
  };
}

const usage = {
  prompt_tokens: 10,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: 10 + OUTPUT_TOKENS,
};

const secretOf = (app: string): string => `faults-key-of-the-budget-of-${app}`;

/** A second of audio and a chat of this many tokens cost the same. */
function fileOf(trials: readonly Trial[], sandbox: Sandbox, chatUrl: string): ConfigurationFile {
  const known = { source: "test", as_of: "2026-11-01" };
  return {
    server: { admin: null },
    prices: [
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "3.60", ...known },
      {
        provider: "openai-compatible",
        model: "one",
        usd_per_million_input_tokens: "0",
        usd_per_million_output_tokens: "10",
        ...known,
      },
    ],
    connections: [
      { id: "dg", kind: "deepgram", api_key: "secret", base_url: sandbox.deepgramUrl },
      {
        id: "far",
        kind: "openai-compatible",
        api_key: "secret",
        base_url: chatUrl,
        models: { one: { capabilities: ["chat"], features: {}, limits: { max_output_tokens: 1_000 } } },
      },
    ],
    routes: [
      { id: "transcription", targets: [{ connection: "dg", model: "nova-3" }] },
      { id: "chat", targets: [{ connection: "far", model: "one" }] },
    ],
    workspaces: [
      {
        id: "acme",
        apps: trials.map(({ app, kind }) => ({
          id: app,
          route: kind,
          budgets: [{ period: "total", limit_usd: String(LIMIT_NANO_USD / 1e9) }],
          keys: [{ id: `${app}-key`, secret: secretOf(app), scopes: ["transcribe", "chat"] }],
        })),
      },
    ],
  };
}

/** So that a kill hits answered, running and reserved requests. */
function slowDown(sandbox: Sandbox, random: () => number): void {
  sandbox.clearFaults();
  for (let count = 0; count < 2 * PAID; count += 1)
    sandbox.addFault({ times: 1, fault: { kind: "delay", ms: Math.round(random() * LONGEST_CALL_MS) } });
}

/** Sends all at once; `onPassed` receives the number that a gateway has let through so far. */
async function rush(
  gateways: readonly BudgetGateway[],
  trial: Trial,
  size: number,
  onPassed: (passed: number, gateway: BudgetGateway) => void | Promise<void>,
): Promise<Rush> {
  const passed = new Map<BudgetGateway, number>();
  const file = wav(1);
  const results = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const gateway = gateways[index % gateways.length];
      if (gateway === undefined) throw new Error("there is no gateway");
      const answer = await ask(gateway, trial, file).catch(() => null);
      if (answer?.status === 200) {
        passed.set(gateway, (passed.get(gateway) ?? 0) + 1);
        await onPassed(passed.get(gateway) ?? 0, gateway);
      }
      return answer;
    }),
  );
  const answers = results.filter((answer) => answer !== null);
  const refused = answers.filter(({ status, code }) => status === 402 && code === "BUDGET_EXCEEDED");
  const overloaded = answers.filter(({ code }) => code === "OVERLOADED");
  const others = answers.filter(({ status, code }) => status !== 200 && status !== 402 && code !== "OVERLOADED");
  return {
    passed: answers.filter(({ status }) => status === 200).length,
    refused: refused.length,
    lost: results.length - answers.length,
    overloaded: overloaded.length,
    others: others.map(({ status, code }) => `${status} ${code}`),
  };
}

function ask({ origin }: BudgetGateway, { app, kind }: Trial, file: Uint8Array): Promise<Answer> {
  const key = secretOf(app);
  if (kind === "transcription") return postForm(origin, { key, file });
  const messages = [{ role: "user", content: "Is it so?" }];
  return postJson(origin, { messages, max_tokens: OUTPUT_TOKENS }, { key, path: "/v1/chat" });
}

function added(one: Rush, other: Rush): Rush {
  return {
    passed: one.passed + other.passed,
    refused: one.refused + other.refused,
    lost: one.lost + other.lost,
    overloaded: one.overloaded + other.overloaded,
    others: [...one.others, ...other.others],
  };
}

function judge(
  { app, kind, isKilled, least }: Trial,
  seen: Rush | undefined,
  sums: AppSums | undefined,
): readonly string[] {
  if (seen === undefined || sums === undefined) return [`${app}: there are no figures`];
  const kept = sums.chargedNanoUsd + sums.unresolvedNanoUsd;
  const rules: readonly (readonly [boolean, string])[] = [
    [seen.passed <= PAID, `${seen.passed} passed`],
    [isKilled || seen.overloaded > 0 || seen.passed >= least, `${seen.passed} passed, and nothing was killed`],
    [isKilled || seen.lost === 0, `${seen.lost} got no answer, and nothing was killed`],
    [seen.others.length === 0, `answers ${[...new Set(seen.others)].join(", ")}`],
    [sums.open === 0 && sums.openLeases === 0, `${sums.open} attempts and ${sums.openLeases} leases are open`],
    [sums.reservedNanoUsd === 0, `${sums.reservedNanoUsd} nano-USD are still reserved`],
    [
      sums.chargedNanoUsd === sums.succeeded * COST_NANO_USD,
      `${sums.succeeded} attempts charge ${sums.chargedNanoUsd}`,
    ],
    [sums.spentNanoUsd === kept, `the budget says ${sums.spentNanoUsd}, attempts and marked leases ${kept}`],
    [sums.spentNanoUsd <= LIMIT_NANO_USD, `${sums.spentNanoUsd} of ${LIMIT_NANO_USD} nano-USD are spent`],
    // An answered request is charged; a chat may instead be marked as unresolved.
    [kept >= seen.passed * COST_NANO_USD, `${seen.passed} passed, and only ${kept} nano-USD are accounted for`],
    // Amounts held in advance by a lease may be marked by a later kill; charges must not change.
    [
      isKilled || sums.chargedNanoUsd === seen.passed * COST_NANO_USD,
      `${seen.passed} passed, and ${sums.chargedNanoUsd} nano-USD are charged`,
    ],
  ];
  return rules.flatMap(([holds, text]) => (holds ? [] : [`${app}, ${kind}${isKilled ? ", killed" : ""}: ${text}`]));
}

function figuresOf(
  trials: readonly Trial[],
  rushes: readonly Rush[],
  sums: readonly AppSums[],
): Readonly<Record<string, number | string>> {
  const total = (of: (rush: Rush) => number) => rushes.reduce((sum, rush) => sum + of(rush), 0);
  const totalOf = (of: (sums: AppSums) => number) => sums.reduce((sum, each) => sum + of(each), 0);
  return {
    kills: trials.filter(({ isKilled }) => isKilled).length,
    passed: total((rush) => rush.passed),
    "refused with 402": total((rush) => rush.refused),
    "without an answer": total((rush) => rush.lost),
    "too much to do": total((rush) => rush.overloaded),
    "transcriptions unresolved, uncharged": totalOf((each) => each.unresolved),
    "chats' leases unresolved, in calls": totalOf((each) => each.unresolvedNanoUsd) / COST_NANO_USD,
  };
}
