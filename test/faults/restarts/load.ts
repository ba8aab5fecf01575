// The load during a rolling restart: every kind of request, over busy connections and over connections that idle for seconds in between.
import { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import { askHttp, type HttpAnswer, type HttpQuestion } from "../ask-http.ts";

export const KEYS = { fast: "faults-key-of-restarts-fast-0001", slow: "faults-key-of-restarts-slow-0001" } as const;
/** Duration of slow provider calls. */
export const SLOW_MS = 3_000;

/** Weighted by frequency. */
const KINDS = [
  ["transcription", 8],
  ["keyed", 6],
  ["chat", 6],
  ["stream", 4],
  ["job", 2],
  ["me", 4],
  ["slow", 1],
  ["slow-stream", 1],
] as const;
export type Kind = (typeof KINDS)[number][0];
const DRAWN: readonly Kind[] = KINDS.flatMap(([kind, share]) => Array.from({ length: share }, () => kind));

const BUSY = 16;
const IDLING = 8;
const IDLE_MS = [1_000, 9_000] as const;
const AUDIO_BYTES = 16_044;

export interface LoadOptions {
  readonly origin: string;
  readonly requestsPerSecond: number;
  readonly random: () => number;
  readonly seed: number;
  readonly isOver: () => boolean;
  readonly onAnswer: (kind: Kind, fault: string | null, answer: HttpAnswer) => void;
}

export async function runLoad(options: LoadOptions): Promise<void> {
  const { random, requestsPerSecond, isOver } = options;
  const pauseMs = (BUSY * 1_000) / requestsPerSecond;
  let requestCount = 0;
  const beOneCaller = async (pause: () => number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await wait(pause() * random());
    while (!isOver()) {
      const startedMs = performance.now();
      const kind = DRAWN[Math.floor(random() * DRAWN.length)] ?? "me";
      requestCount += 1;
      const answer = await askHttp(options.origin, agent, question(kind, `${options.seed}-${requestCount}`));
      options.onAnswer(kind, faultOf(kind, answer), answer);
      await wait(Math.max(0, pause() - (performance.now() - startedMs)));
    }
    agent.destroy();
  };
  const [leastMs, mostMs] = IDLE_MS;
  await Promise.all([
    ...Array.from({ length: BUSY }, () => beOneCaller(() => pauseMs * (0.5 + random()))),
    ...Array.from({ length: IDLING }, () => beOneCaller(() => leastMs + (mostMs - leastMs) * random())),
  ]);
}

const FORM = formAround(noiseWav(AUDIO_BYTES));

function question(kind: Kind, name: string): HttpQuestion {
  const key = kind.startsWith("slow") ? KEYS.slow : KEYS.fast;
  const authorization = `Bearer ${key}`;
  if (kind === "me") return { method: "GET", path: "/v1/me", headers: { authorization } };
  if (kind === "chat" || kind === "stream" || kind === "slow-stream") {
    const body = JSON.stringify({
      messages: [{ role: "user", content: `Hello ${name}` }],
      ...(kind === "chat" ? {} : { stream: true }),
    });
    return {
      method: "POST",
      path: "/v1/chat",
      headers: { authorization, "content-type": "application/json" },
      body: Buffer.from(body),
    };
  }
  return {
    method: "POST",
    path: kind === "job" ? "/v1/transcription/jobs" : "/v1/transcription",
    headers: {
      authorization,
      "content-type": FORM.contentType,
      ...(kind === "keyed" || kind === "job" ? { "idempotency-key": `restarts-${name}` } : {}),
    },
    body: FORM.body,
  };
}

function faultOf(kind: Kind, { status, text }: HttpAnswer): string | null {
  const expectedStatus = kind === "job" ? 202 : 200;
  if (status !== expectedStatus) return `${kind}: ${status ?? "no answer"} ${text.slice(0, 200)}`;
  if (kind.endsWith("stream") && !text.includes("event: chat.completed")) return `${kind}: the stream has no end`;
  return null;
}
