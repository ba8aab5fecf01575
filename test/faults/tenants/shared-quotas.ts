// A quota of 100, on a key and on an app, over three gateways with differently shared load [quotas.accuracy]: 100 ± 2 % of 300 requests pass, never more than
// 100. Requests per minute, seconds of audio per hour, chat tokens per minute, and concurrent requests; the latter of a killed gateway are released within 45 s
// [quotas.concurrent-crash].
import { setTimeout as wait } from "node:timers/promises";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { wav } from "../../audio/build-audio.ts";
import { completion, json, startChatUpstream } from "../../harness/chat-upstream.ts";
import { type Answer, postForm, postJson } from "../../harness/client.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded, shuffled } from "../seeded.ts";
import { GATEWAYS, type Gateways, startGateways } from "../gateways.ts";

const QUOTA = 100;
const ASKED = 300;
const LEAST = 98;
const AT_ONCE = 12;
const PLACES = 20;
const FREED_WITHIN_MS = 45_000;
const SPLITS = [
  [1, 1, 1],
  [98, 1, 1],
  [60, 30, 10],
  [1, 0, 0],
] as const;
const HOLDERS = ["key", "app"] as const;
const UNITS = ["requests_per_minute", "audio_seconds_per_hour", "tokens_per_minute"] as const;
/** Of a chat: the estimate for its message, and the answer. Reserved and used amounts are equal, so that a quota for 100 is exact. */
const USAGE = { prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 };
const MESSAGES = [{ role: "user", content: "Hello" }];

interface Trial {
  readonly name: string;
  readonly holder: (typeof HOLDERS)[number];
  readonly unit: (typeof UNITS)[number];
  readonly split: readonly number[];
}

/** The short form skips the trial that waits for a dead gateway's slots. */
export async function runSharedQuotas({
  n,
  seed,
  isShort,
}: Pick<FaultOptions, "n" | "seed" | "isShort">): Promise<Trials> {
  const started = performance.now();
  const random = seeded(seed);
  // Short runs still cover every unit.
  const kinds = SPLITS.flatMap((split) => HOLDERS.flatMap((holder) => UNITS.map((unit) => ({ unit, holder, split }))));
  const trials = shuffled(
    Array.from({ length: n }, (_, index) => kinds[index % kinds.length] ?? kinds[0]),
    random,
  ).flatMap((kind, index) => (kind === undefined ? [] : [{ ...kind, name: `trial-${index}` }]));
  await using opened = new AsyncDisposableStack();
  const upstream = await startChatUpstream();
  opened.defer(() => upstream.close());
  upstream.behave((call) => json(call, 200, completion({ role: "assistant", content: "Yes." }, "stop", USAGE)));
  const gateways = opened.use(await startGateways((sandbox) => fileOf(sandbox.deepgramUrl, upstream.url, trials)));
  const violations: string[] = [];
  const passedCounts: number[] = [];
  for (const trial of trials) {
    const answers = await askAll(gateways, trial, random);
    const through = answers.filter(({ status }) => status === 200).length;
    passedCounts.push(through);
    const about = `${trial.unit} of the ${trial.holder}, split ${trial.split.join(":")}`;
    if (through < LEAST || through > QUOTA) violations.push(`${about}: ${through} of ${QUOTA}`);
    for (const { status, code, headers } of answers)
      if (status !== 200 && (code !== "RATE_LIMITED" || headers.get("ratelimit") === null))
        violations.push(`${about}: ${status} ${code}`);
  }
  const places = await judgePlaces(gateways, isShort, violations);
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "let through": `${Math.min(...passedCounts)} to ${Math.max(...passedCounts)} of ${QUOTA}, ${passedCounts.filter((each) => each === QUOTA).length} of ${n} times exactly ${QUOTA}`,
      ...places,
    },
  };
}

const secretOf = (name: string, index = 0): string => `faults-key-of-${name}-${index}-abcdefgh`;

function fileOf(deepgramUrl: string, chatUrl: string, trials: readonly Trial[]): ConfigurationFile {
  const keysOf = (name: string, quota: object) =>
    Array.from({ length: GATEWAYS }, (_, index) => ({
      id: `${name}-${index}`,
      secret: secretOf(name, index),
      scopes: ["transcribe" as const, "chat" as const],
      ...quota,
    }));
  return {
    connections: [
      { id: "dg", kind: "deepgram", api_key: "secret", base_url: deepgramUrl },
      {
        id: "far",
        kind: "openai-compatible",
        api_key: "secret",
        base_url: chatUrl,
        models: { one: { capabilities: ["chat"], features: {}, limits: { max_output_tokens: 1_000 } } },
      },
    ],
    routes: [
      { id: "speech", targets: [{ connection: "dg", model: "nova-3" }] },
      { id: "chat", targets: [{ connection: "far", model: "one" }] },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          ...trials.map(({ name, holder, unit }) => {
            const isChat = unit === "tokens_per_minute";
            const quota = { quota: { [unit]: isChat ? QUOTA * USAGE.total_tokens : QUOTA } };
            const route = isChat ? "chat" : "speech";
            return holder === "app"
              ? { id: name, route, ...quota, keys: keysOf(name, {}) }
              : { id: name, route, keys: keysOf(name, quota).slice(0, 1) };
          }),
          { id: "places", route: "speech", quota: { concurrent: PLACES }, keys: keysOf("places", {}) },
        ],
      },
    ],
  };
}

/** As many at a time as callers have connections; each goes to a gateway according to the split, in random order. */
async function askAll(
  { origins }: Gateways,
  { name, holder, unit, split }: Trial,
  random: () => number,
): Promise<readonly Answer[]> {
  const sum = split.reduce((total, part) => total + part, 0);
  const turns = Array.from({ length: ASKED }, () => {
    let point = random() * sum;
    return split.findIndex((part) => (point -= part) < 0);
  });
  const file = wav(1);
  const answers: Answer[] = [];
  const caller = async (): Promise<void> => {
    for (let turn = turns.pop(); turn !== undefined; turn = turns.pop()) {
      const key = secretOf(name, holder === "app" ? turns.length % GATEWAYS : 0);
      const origin = origins[turn] ?? "";
      const chat = { messages: MESSAGES, max_tokens: USAGE.completion_tokens };
      answers.push(
        unit === "tokens_per_minute"
          ? await postJson(origin, chat, { key, path: "/v1/chat" })
          : await postForm(origin, { key, file }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return answers;
}

async function judgePlaces(
  gateways: Gateways,
  isShort: boolean,
  violations: string[],
): Promise<Readonly<Record<string, string>>> {
  const { origins, processes, sandbox } = gateways;
  sandbox.addFault({ fault: { kind: "delay", ms: 3_000 } });
  const results = await Promise.allSettled(
    Array.from({ length: 3 * PLACES }, (_, index) => askPlace(origins[index % GATEWAYS], index)),
  );
  const statuses = results.map((each) => (each.status === "fulfilled" ? each.value.status : 0));
  const through = statuses.filter((status) => status === 200).length;
  if (through !== PLACES || statuses.some((status) => status !== 200 && status !== 429))
    violations.push(`at once: ${through} of ${PLACES}`);
  const figures = { "at once": `${through} of ${PLACES} places` };
  if (isShort) return figures;

  // The last gateway holds all slots when it dies.
  sandbox.clearFaults();
  sandbox.clearCalls();
  sandbox.addFault({ fault: { kind: "delay", ms: 60_000 } });
  const [survivor, last] = [origins[0], processes.at(-1)];
  await wait(4_000);
  const orphanedRequests = Array.from({ length: PLACES }, (_, index) =>
    askPlace(origins.at(-1), index).catch(() => null),
  );
  while (placesTaken(gateways) < PLACES) await wait(50);
  await last?.kill();
  const killedMs = performance.now();
  await Promise.all(orphanedRequests);
  sandbox.clearFaults();
  let freed = await askPlace(survivor, 0);
  while (freed.status === 429 && performance.now() - killedMs < 2 * FREED_WITHIN_MS) {
    await wait(250);
    freed = await askPlace(survivor, 0);
  }
  const freedMs = performance.now() - killedMs;
  if (freed.status !== 200 || freedMs > FREED_WITHIN_MS)
    violations.push(`a dead gateway's places: ${freed.status} after ${freedMs.toFixed(0)} ms`);
  return { ...figures, "a dead gateway's places": `free after ${(freedMs / 1000).toFixed(1)} s` };
}

function askPlace(origin: string | undefined, index: number): Promise<Answer> {
  return postForm(origin ?? "", { key: secretOf("places", index % GATEWAYS), file: wav(1) });
}

function placesTaken({ sandbox }: Gateways): number {
  return sandbox.calls.filter(({ outcome }) => outcome === "pending").length;
}
