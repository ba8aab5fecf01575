// Measures how a trial affects other tenants: sequential transcriptions, chats and reads, each with its duration.
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../../../bench/measure/report.ts";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import { askHttp, type HttpQuestion } from "../ask-http.ts";
import { beginStretch } from "../processor-time.ts";

const PAUSE_MS = 50;
const FORM = formAround(noiseWav(16_044));

export interface HonestCallers {
  stop(): Promise<HonestReport>;
}

export interface HonestReport {
  readonly requests: number;
  /** Answers other than 200, as text. */
  readonly faults: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Durations exclude the time that this process and the gateway waited for a processor. */
export function startHonestCallers(
  origin: string,
  secret: string,
  gatewayPid: number,
  questions: readonly HttpQuestion[] = ordinaryQuestions(secret),
): HonestCallers {
  const times: number[] = [];
  const faults: string[] = [];
  const over = new AbortController();
  const callers = questions.map(async (question) => {
    while (!over.signal.aborted) {
      const ends = stretch(gatewayPid);
      const { status, text } = await askHttp(origin, false, question);
      times.push(ends());
      if (status !== 200) faults.push(`${question.path}: ${status ?? "no answer"} ${text.slice(0, 200)}`);
      await wait(PAUSE_MS);
    }
  });
  return {
    stop: async () => {
      over.abort();
      await Promise.all(callers);
      const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((part) => quantile(times, part)) as [number, number, number];
      return { requests: times.length, faults, p50Ms, p99Ms, maxMs };
    },
  };
}

/** Wall-clock time only, once the gateway's process has ended. */
function stretch(pid: number): () => number {
  const startedMs = performance.now();
  try {
    const ends = beginStretch(pid);
    return () => {
      const clockMs = performance.now() - startedMs;
      try {
        const { ms, waitedMs } = ends();
        return Math.max(0, ms - waitedMs);
      } catch {
        return clockMs;
      }
    };
  } catch {
    return () => performance.now() - startedMs;
  }
}

function ordinaryQuestions(secret: string): readonly HttpQuestion[] {
  const authorization = `Bearer ${secret}`;
  return [
    { method: "GET", path: "/v1/me", headers: { authorization } },
    {
      method: "POST",
      path: "/v1/transcription",
      headers: { authorization, "content-type": FORM.contentType },
      body: FORM.body,
    },
    ...[false, true].map((stream) => ({
      method: "POST",
      path: "/v1/chat",
      headers: { authorization, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "Hello" }], stream })),
    })),
  ];
}
