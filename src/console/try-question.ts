// The input of a dry run in the address: the filters of each task, and the request to the gateway. Pure; a test compares it with the API's schema.
import type { ExplanationRequest } from "../contract/admin/route-explanation.ts";
import type { Filter } from "./filter.ts";
import type { Choice } from "./plain-field.ts";

type Task = ExplanationRequest["task"];

const TASKS: readonly (readonly [Task, string])[] = [
  ["transcribe", "Transcribe a recording"],
  ["translate", "Translate a recording"],
  ["realtime", "Transcribe live audio"],
  ["chat", "Chat"],
];

export const TASK: Filter = select("task", "Task", TASKS);

export function taskOf(query: URLSearchParams): Task {
  return TASKS.find(([task]) => task === query.get("task"))?.[0] ?? "transcribe";
}

/** A filter, and the request fields for its value. */
interface Question {
  readonly filter: Filter;
  readonly fields: (value: string) => object;
}

/** The field of the same name. */
const sameName = (filter: Filter): Question => ({ filter, fields: (value) => ({ [filter.name]: value }) });
const ticked = (name: string, label: string, fields: object = { [name]: true }): Question => ({
  filter: { name, label, kind: "check" },
  fields: () => fields,
});

const PURPOSE = sameName(text("purpose", "Purpose", "none"));
const PROFILE = sameName(
  select("response_profile", "Profile", [
    ["", "default"],
    ["fast", "fast"],
    ["balanced", "balanced"],
    ["deep", "deep"],
  ]),
);
const STREAM = ticked("stream", "Streaming");

const SPEECH: readonly Question[] = [
  PURPOSE,
  sameName(
    select("purpose_policy", "Purpose policy", [
      ["", "app default"],
      ["fallback", "fallback"],
      ["strict", "refuse"],
    ]),
  ),
  sameName(text("language", "Language", "not specified")),
  sameName(
    select("timestamps", "Timestamps", [
      ["", "none"],
      ["word", "words"],
      ["segment", "segments"],
      ["both", "both"],
    ]),
  ),
  PROFILE,
  ticked("diarization", "Speaker diarization"),
  ticked("multichannel", "Separate channels"),
  ticked("redaction", "Redact personal data"),
  ticked("profanity_filter", "Mask profanity"),
  ticked("keyterms", "Key terms", { keyterms: ["Patchbay"] }),
];
const INTO = sameName(text("to_language", "Target language", "en"));
const FILE: readonly Question[] = [STREAM, ticked("async", "As a job", { mode: "async" })];

const CHAT: readonly Question[] = [
  PURPOSE,
  PROFILE,
  {
    filter: select("response_format", "Response format", [
      ["", "text"],
      ["json_object", "JSON"],
      ["json_schema", "JSON schema"],
    ]),
    fields: (type) => ({
      response_format: type === "json_schema" ? { type, json_schema: { name: "example", schema: {} } } : { type },
    }),
  },
  {
    filter: text("max_tokens", "Maximum tokens", "any"),
    fields: (typed) => ({ max_tokens: Number.isNaN(Number(typed)) ? typed : Number(typed) }),
  },
  ticked("tools", "Tool", { tools: [{ type: "function", function: { name: "example" } }] }),
  ticked(
    "image",
    "Image",
    messageWith({ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }),
  ),
  ticked("audio", "Audio", messageWith({ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } })),
  STREAM,
];

const TAKES: Readonly<Record<Task, readonly Question[]>> = {
  transcribe: [...SPEECH, ...FILE],
  translate: [INTO, ...SPEECH, ...FILE],
  realtime: SPEECH,
  chat: CHAT,
};

const FORMATS: readonly Choice[] = [
  ["", "mp3"],
  ...["wav", "m4a", "mp4", "webm", "mpeg"].map((name): Choice => [name, name]),
];
const RECORDING: readonly Filter[] = [
  text("minutes", "Length in minutes", "unknown"),
  select("format", "Format", FORMATS),
  text("channels", "Channels", "1"),
  text("megabytes", "Size in MB", "typical for its length"),
];
const ENCODING = select("encoding", "Encoding", [
  ["", "raw samples"],
  ["webm_opus", "WebM (browser recording)"],
]);

export function filtersOf(task: Task): readonly Filter[] {
  const audio = task === "chat" ? [] : task === "realtime" ? [ENCODING] : RECORDING;
  return [...audio, ...TAKES[task].map(({ filter }) => filter)];
}

interface Thought {
  readonly task: Task;
  readonly fields: object;
  readonly recording?: object;
  readonly encoding?: string;
}

/** Without the caller. Invalid values are sent as typed, for the gateway to refuse by name. */
export function requestOf(query: URLSearchParams): Thought {
  const task = taskOf(query);
  const fields: object = Object.assign(
    {},
    ...TAKES[task].map((each) => {
      const value = query.get(each.filter.name) ?? "";
      return value === "" ? {} : each.fields(value);
    }),
  );
  if (task === "chat") return { task, fields };
  const encoding = query.get("encoding") ?? "";
  if (task === "realtime") return { task, fields, ...(encoding === "" ? {} : { encoding }) };
  const recording = {
    ...figure(query, "minutes", (minutes) => ({ duration_seconds: minutes * 60 })),
    ...figure(query, "channels", (channels) => ({ channels })),
    ...figure(query, "megabytes", (megabytes) => ({ bytes: Math.round(megabytes * 1_000_000) })),
  };
  if (Object.keys(recording).length === 0) return { task, fields };
  return { task, fields, recording: { ...recording, format: query.get("format") || "mp3" } };
}

/** An invalid number is sent under its own name. */
function figure(query: URLSearchParams, name: string, fields: (value: number) => object): object {
  const typed = query.get(name) ?? "";
  if (typed === "") return {};
  const value = Number(typed.replace(",", "."));
  return Number.isNaN(value)
    ? Object.fromEntries(Object.keys(fields(0)).map((field) => [field, typed]))
    : fields(value);
}

function text(name: string, label: string, placeholder: string): Filter {
  return { name, label, kind: "text", placeholder };
}

function select(name: string, label: string, choices: readonly Choice[]): Filter {
  return { name, label, kind: "select", choices };
}

function messageWith(part: object): object {
  return { messages: [{ role: "user", content: [{ type: "text", text: "Hello" }, part] }] };
}
