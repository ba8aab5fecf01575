// Keyed submissions of every kind by a client that does what answers tell it: it waits for Retry-After and sends the same request again, under
// the same key, to the next gateway.
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../../bench/wav.ts";
import type { SandboxCall } from "../../../sandbox/server.ts";
import { askHttp, type HttpQuestion } from "../ask-http.ts";

export const KINDS = ["transcription", "chat", "job"] as const;
export type Kind = (typeof KINDS)[number];

export interface Submission {
  readonly kind: Kind;
  /** Its key, and what tells its calls at the provider from those of others. */
  readonly name: string;
  /** Looks again after so long instead of waiting for Retry-After: to see when its key is free. */
  readonly isImpatient: boolean;
}

export interface Answered {
  readonly atMs: number;
  /** Null: the connection broke. */
  readonly status: number | null;
  readonly code: string;
  readonly text: string;
}

export interface Ended {
  readonly submission: Submission;
  /** In order; the last one is final. */
  readonly answers: readonly Answered[];
}

const FORM = formAround(noiseWav(16_044));
const CLOSING = "--\r\n";
const IMPATIENT_MS = 100;
/** Unless told otherwise. */
const LONGEST_MS = 90_000;
const PATHS: Readonly<Record<Kind, string>> = {
  transcription: "/v1/transcription",
  chat: "/v1/chat",
  job: "/v1/transcription/jobs",
};

/** Until its answer is one that a client does not repeat. */
export async function submit(
  origins: readonly string[],
  secret: string,
  submission: Submission,
  firstAt: number,
  longestMs = LONGEST_MS,
): Promise<Ended> {
  const answers: Answered[] = [];
  const lastMs = performance.now() + longestMs;
  for (let turn = firstAt; ; turn += 1) {
    const answer = await askHttp(origins[turn % origins.length] ?? "", false, question(submission, secret));
    const code = /"code":"([A-Za-z_]+)"/u.exec(answer.text)?.[1] ?? "";
    answers.push({ atMs: performance.now(), status: answer.status, code, text: answer.text.slice(0, 300) });
    const retryAfter = answer.headers["retry-after"];
    const isToRepeat = answer.status === null || answer.headers["x-should-retry"] === "true";
    if (!isToRepeat || performance.now() > lastMs) return { submission, answers };
    await wait(submission.isImpatient ? IMPATIENT_MS : Number(retryAfter ?? 1) * 1_000);
  }
}

/** How often a provider was called under each name; names end with `-end`, so that none is the beginning of another. */
export function countCalls(calls: readonly SandboxCall[], names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { query, fields } of calls) {
    const said = [...query, ...fields].map(([, value]) => value).join(" ");
    for (const [name] of said.matchAll(/[\w-]+-end\b/gu))
      if (names.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

export function question({ kind, name }: Submission, secret: string): HttpQuestion {
  const headers = { authorization: `Bearer ${secret}`, "idempotency-key": name };
  if (kind === "chat") {
    const body = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: `Hello ${name}` }] }));
    return { method: "POST", path: PATHS.chat, headers: { ...headers, "content-type": "application/json" }, body };
  }
  const boundary = FORM.contentType.slice(FORM.contentType.indexOf("=") + 1);
  const term = `\r\nContent-Disposition: form-data; name="keyterms"\r\n\r\n${name}\r\n--${boundary}--\r\n`;
  const body = Buffer.concat([FORM.body.subarray(0, -CLOSING.length), Buffer.from(term)]);
  return { method: "POST", path: PATHS[kind], headers: { ...headers, "content-type": FORM.contentType }, body };
}
