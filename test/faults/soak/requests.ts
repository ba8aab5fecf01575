// The request mix of the soak test: every kind of answer, callers that disconnect, failing providers, invalid requests and unknown keys. Drawn by share, each
// with its allowed answers.
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { HttpQuestion } from "../ask-http.ts";

export const APPS = ["fast", "slow", "failing"] as const;
export type AppName = (typeof APPS)[number];
export const KEYS: Readonly<Record<AppName, string>> = {
  fast: "faults-key-of-the-soak-fast-0001",
  slow: "faults-key-of-the-soak-slow-0001",
  failing: "faults-key-of-the-soak-failing-01",
};

export interface Asked {
  readonly kind: Kind;
  readonly question: HttpQuestion;
  /** The caller disconnects after this time. */
  readonly hangUpMs: number | null;
  readonly statuses: readonly number[];
}

const SHARES = {
  transcription: 20,
  "keyed transcription": 15,
  upload: 1,
  "streamed transcription": 5,
  chat: 15,
  "keyed chat": 5,
  "streamed chat": 12,
  "hang-up": 5,
  job: 6,
  "failing provider": 5,
  invalid: 4,
  "unknown key": 3,
  read: 4,
} as const;
export type Kind = keyof typeof SHARES;
const DRAWN = (Object.entries(SHARES) as [Kind, number][]).flatMap(([kind, share]) =>
  Array.from({ length: share }, () => kind),
);

type Form = ReturnType<typeof formAround>;
const CLOSING = "--\r\n";
const SMALL: Form = formAround(noiseWav(16_044));
const STREAMED = withField(SMALL, "stream", "true");
const LARGE = formAround(noiseWav(2_000_044));
const MOST_PATIENT_MS = 1_500;
/** Answers of a fully loaded gateway, which are no failure on a busy machine. */
const BUSY = [429, 503];

/** `name`: unique for this request. */
export function drawRequest(random: () => number, name: string): Asked {
  const kind = DRAWN[Math.floor(random() * DRAWN.length)] ?? "read";
  switch (kind) {
    case "transcription":
      return requestOf(kind, form("fast", "/v1/transcription", SMALL), [200]);
    case "keyed transcription":
      return requestOf(kind, form("fast", "/v1/transcription", SMALL, name), [200]);
    case "upload":
      return requestOf(kind, form("fast", "/v1/transcription", LARGE), [200]);
    case "streamed transcription":
      return requestOf(kind, form("fast", "/v1/transcription", STREAMED), [200]);
    case "chat":
      return requestOf(kind, chat("fast", name), [200]);
    case "keyed chat":
      return requestOf(kind, chat("fast", name, { key: name }), [200]);
    case "streamed chat":
      return requestOf(kind, chat("fast", name, { stream: true }), [200]);
    case "hang-up": {
      const question = random() < 0.5 ? chat("slow", name, { stream: true }) : form("slow", "/v1/transcription", SMALL);
      return { ...requestOf(kind, question, [200]), hangUpMs: random() * MOST_PATIENT_MS };
    }
    case "job":
      return requestOf(kind, form("fast", "/v1/transcription/jobs", SMALL, random() < 0.5 ? name : undefined), [202]);
    case "failing provider":
      return requestOf(kind, failing(random, name), [200, 202, 502, 504]);
    case "invalid":
      return requestOf(kind, invalid(random), [400, 413, 415, 422]);
    case "unknown key":
      return requestOf(kind, { ...READ, headers: { authorization: `Bearer ${generateKey("live")}` } }, [401]);
    case "read":
      return requestOf(kind, { ...READ, path: random() < 0.5 ? "/v1/me" : "/v1/transcription/jobs" }, [200]);
  }
}

const bearer = (app: AppName) => ({ authorization: `Bearer ${KEYS[app]}` });
const READ: HttpQuestion = { method: "GET", path: "/v1/me", headers: bearer("fast") };

function requestOf(kind: Kind, question: HttpQuestion, statuses: readonly number[]): Asked {
  return { kind, question, hangUpMs: null, statuses: [...statuses, ...BUSY] };
}

function form(app: AppName, path: string, { contentType, body }: Form, key?: string): HttpQuestion {
  const keyHeader = key === undefined ? {} : { "idempotency-key": key };
  return { method: "POST", path, headers: { ...bearer(app), "content-type": contentType, ...keyHeader }, body };
}

function chat(
  app: AppName,
  name: string,
  { stream = false, key }: { readonly stream?: boolean; readonly key?: string } = {},
): HttpQuestion {
  const body = { messages: [{ role: "user", content: `Hello ${name}` }], ...(stream ? { stream } : {}) };
  return json(app, "/v1/chat", JSON.stringify(body), key === undefined ? {} : { "idempotency-key": key });
}

function json(app: AppName, path: string, text: string, more: Readonly<Record<string, string>> = {}): HttpQuestion {
  const headers = { ...bearer(app), "content-type": "application/json", ...more };
  return { method: "POST", path, headers, body: Buffer.from(text) };
}

function failing(random: () => number, name: string): HttpQuestion {
  const way = random();
  if (way < 0.4) return form("failing", "/v1/transcription", SMALL, way < 0.2 ? name : undefined);
  return way < 0.8 ? chat("failing", name, { stream: way < 0.6 }) : form("failing", "/v1/transcription/jobs", SMALL);
}

function invalid(random: () => number): HttpQuestion {
  const bodies = ["{", '{"messages":[]}', '{"messages":"Hello","colour":1}', '{"model":"gpt-4o","messages":[]}'];
  const way = Math.floor(random() * (bodies.length + 1));
  return way < bodies.length
    ? json("fast", "/v1/chat", bodies[way] ?? "{")
    : form("fast", "/v1/transcription", formAround(Buffer.from("no audio at all, whatever its name says")));
}

function withField({ contentType, body }: Form, name: string, value: string): Form {
  const boundary = contentType.slice(contentType.indexOf("=") + 1);
  const field = `\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--${boundary}--\r\n`;
  return { contentType, body: Buffer.concat([body.subarray(0, -CLOSING.length), Buffer.from(field)]) };
}
