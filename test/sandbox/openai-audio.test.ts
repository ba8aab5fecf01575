// The sandbox as OpenAI: what it refuses and what it answers.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, type FormOptions, transcribe } from "./ask.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

const TEXT = "[simulated transcript, 2.5 s, mono]";
const FORMATS = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "whisper-1": ["json", "text", "srt", "vtt", "verbose_json"],
  "gpt-4o-transcribe": ["json", "text"],
  "gpt-4o-mini-transcribe": ["json", "text"],
  "gpt-4o-transcribe-diarize": ["json", "text", "diarized_json"],
  "gpt-transcribe": ["json", "text"],
};
test("providers.sandbox-retirement: openai, its older models are refused from 2027-02-26 on and no longer listed, by the sandbox's clock", async () => {
  let nowMs = Date.parse("2027-02-25T23:59:59Z");
  const own = await startSandbox({ nowMs: () => nowMs });
  const ask = (model: string) => transcribe(own.openaiUrl, [["model", model]]);
  const listed = async (): Promise<{ id: string; shutdown_date: string | null }[]> => {
    const headers = { authorization: "Bearer sk-wire" };
    const { data } = (await (await fetch(`${own.openaiUrl}/models`, { headers })).json()) as {
      data: { id: string; shutdown_date: string | null }[];
    };
    return data;
  };
  assert.equal((await ask("whisper-1")).status, 200);
  assert.equal((await listed()).find(({ id }) => id === "whisper-1")?.shutdown_date, "2027-02-26");
  nowMs = Date.parse("2027-02-26T00:00:00Z");
  const refused = await ask("whisper-1");
  assert.equal(refused.status, 404);
  assert.match(JSON.stringify(refused), /has been deprecated.*model_not_found/u);
  assert.equal((await ask("gpt-transcribe")).status, 200);
  assert.ok(!(await listed()).some(({ id }) => id === "whisper-1"));
  await own.close();
});

for (const [model, allowed] of Object.entries(ALLOWED)) {
  test(`providers.sandbox-refusals: openai, ${model} answers ${allowed.join(", ")} and refuses the other formats with unsupported_value`, async () => {
    for (const format of FORMATS) {
      const chunking = model.endsWith("diarize") ? [["chunking_strategy", "auto"] as const] : [];
      const answer = await transcribe(sandbox.openaiUrl, [["model", model], ["response_format", format], ...chunking]);
      assert.equal(answer.status, allowed.includes(format) ? 200 : 400, format);
      if (answer.status === 400)
        assert.deepEqual(
          [at(answer.json, "error", "code"), at(answer.json, "error", "param")],
          ["unsupported_value", "response_format"],
        );
    }
  });
}

type Case = readonly [
  why: string,
  fields: readonly (readonly [string, string])[],
  param: string,
  code: string | null,
  options?: FormOptions,
];
const DIARIZE = [
  ["model", "gpt-4o-transcribe-diarize"],
  ["chunking_strategy", "auto"],
] as const;
const REFUSED: readonly Case[] = [
  [
    "an unknown field",
    [
      ["model", "whisper-1"],
      ["diarize", "true"],
    ],
    "diarize",
    "unknown_parameter",
  ],
  [
    "array keys carry brackets",
    [
      ["model", "whisper-1"],
      ["timestamp_granularities", "word"],
    ],
    "timestamp_granularities",
    "unknown_parameter",
  ],
  [
    "granularities are for whisper-1",
    [
      ["model", "gpt-4o-transcribe"],
      ["timestamp_granularities[]", "word"],
    ],
    "timestamp_granularities[]",
    "unsupported_value",
  ],
  [
    "granularities need verbose_json",
    [
      ["model", "whisper-1"],
      ["timestamp_granularities[]", "word"],
    ],
    "timestamp_granularities",
    "unsupported_value",
  ],
  [
    "diarization needs chunking_strategy",
    [["model", "gpt-4o-transcribe-diarize"]],
    "chunking_strategy",
    "invalid_value",
  ],
  ["diarization takes no prompt", [...DIARIZE, ["prompt", "a"]], "prompt", "unsupported_value"],
  ["diarization takes no include", [...DIARIZE, ["include[]", "logprobs"]], "include[]", "unsupported_value"],
  [
    "diarization takes no granularities",
    [...DIARIZE, ["timestamp_granularities[]", "segment"]],
    "timestamp_granularities[]",
    "unsupported_value",
  ],
  [
    "a known speaker needs a name and a reference",
    [...DIARIZE, ["known_speaker_names[]", "a"]],
    "known_speaker_references",
    "invalid_value",
  ],
  [
    "a chunking object is server_vad",
    [
      ["model", "gpt-4o-transcribe"],
      ["chunking_strategy", '{"type":"none"}'],
    ],
    "chunking_strategy",
    "invalid_value",
  ],
  [
    "gpt-transcribe takes languages[], not language",
    [
      ["model", "gpt-transcribe"],
      ["language", "de"],
    ],
    "language",
    "unsupported_value",
  ],
  [
    "keywords[] are for gpt-transcribe",
    [
      ["model", "whisper-1"],
      ["keywords[]", "a"],
    ],
    "keywords[]",
    "unsupported_value",
  ],
  [
    "logprobs go with json only",
    [
      ["model", "gpt-4o-transcribe"],
      ["include[]", "logprobs"],
      ["response_format", "text"],
    ],
    "include",
    "unsupported_value",
  ],
  [
    "a language is ISO-639-1",
    [
      ["model", "whisper-1"],
      ["language", "english"],
    ],
    "language",
    "invalid_language_format",
  ],
  [
    "temperature ends at 1",
    [
      ["model", "whisper-1"],
      ["temperature", "1.5"],
    ],
    "temperature",
    "invalid_value",
  ],
  [
    "stream is a boolean",
    [
      ["model", "gpt-4o-transcribe"],
      ["stream", "yes"],
    ],
    "stream",
    "invalid_value",
  ],
  [
    "an unknown response_format",
    [
      ["model", "whisper-1"],
      ["response_format", "xml"],
    ],
    "response_format",
    "invalid_value",
  ],
  ["no file", [["model", "whisper-1"]], "file", "missing_required_parameter", { audio: null }],
  ["a file name without extension", [["model", "whisper-1"]], "messages", "unsupported_format", { fileName: "speech" }],
  [
    "a file name with a wrong extension",
    [["model", "whisper-1"]],
    "messages",
    "unsupported_format",
    { fileName: "speech.txt" },
  ],
  [
    "a file name with another format's extension",
    [["model", "whisper-1"]],
    "messages",
    "unsupported_format",
    { fileName: "speech.mp3" },
  ],
  ["bytes that are no audio", [["model", "whisper-1"]], "file", "invalid_value", { audio: Buffer.from("no audio") }],
  [
    "translations take no language",
    [
      ["model", "whisper-1"],
      ["language", "de"],
    ],
    "language",
    "unknown_parameter",
    { path: "translations" },
  ],
];
for (const [why, fields, param, code, options] of REFUSED) {
  test(`providers.sandbox-refusals: openai, ${why}: 400 ${code}`, async () => {
    const answer = await transcribe(sandbox.openaiUrl, fields, options);
    assert.equal(answer.status, 400);
    assert.deepEqual(
      [at(answer.json, "error", "param"), at(answer.json, "error", "code"), at(answer.json, "error", "type")],
      [param, code, "invalid_request_error"],
    );
  });
}

test("providers.sandbox-refusals: openai, unknown models, and translation by another model than whisper-1: 404 model_not_found", async () => {
  for (const [model, path] of [
    ["gpt-9", "transcriptions"],
    ["gpt-4o-transcribe", "translations"],
  ] as const) {
    const answer = await transcribe(sandbox.openaiUrl, [["model", model]], { path });
    assert.deepEqual([answer.status, at(answer.json, "error", "code")], [404, "model_not_found"]);
  }
});

for (const authorization of [null, "Bearer invalid", "Token sk-wire"]) {
  test(`providers.sandbox-refusals: openai, authorization ${authorization ?? "absent"}: 401 invalid_api_key`, async () => {
    const answer = await transcribe(sandbox.openaiUrl, [["model", "whisper-1"]], { authorization });
    assert.deepEqual([answer.status, at(answer.json, "error", "code")], [401, "invalid_api_key"]);
  });
}

test("providers.sandbox-refusals: openai, the cap is 26214400 bytes of the whole multipart body, not of the file: 413 with the count", async () => {
  const audio = wav(3276.5);
  assert.ok(audio.length < 26_214_400);
  const within = await transcribe(sandbox.openaiUrl, [["model", "whisper-1"]], { audio });
  assert.equal(within.status, 200);
  const above = await transcribe(
    sandbox.openaiUrl,
    [
      ["model", "whisper-1"],
      ["prompt", "p".repeat(10_000)],
    ],
    { audio },
  );
  assert.equal(above.status, 413);
  const error = at(above.json, "error");
  assert.deepEqual([at(error, "type"), at(error, "code")], ["server_error", null]);
  assert.match(
    String(at(error, "message")),
    /^Maximum content size limit \(26214400\) exceeded \(2622\d{4} bytes read\)$/,
  );
});

test("providers.sandbox-refusals: openai, the diarize model accepts 1400 s and refuses 1401 s, naming both figures", async () => {
  assert.equal((await transcribe(sandbox.openaiUrl, DIARIZE, { audio: wav(1400) })).status, 200);
  const answer = await transcribe(sandbox.openaiUrl, DIARIZE, { audio: wav(1401) });
  assert.equal(
    at(answer.json, "error", "message"),
    "audio duration 1401 seconds is longer than 1400 seconds which is the maximum for this model",
  );
  assert.deepEqual(
    [answer.status, at(answer.json, "error", "code"), at(answer.json, "error", "param")],
    [400, "invalid_value", null],
  );
});

test("providers.sandbox-refusals: openai, less than 0.1 s: 400 that says shorter", async () => {
  const answer = await transcribe(sandbox.openaiUrl, [["model", "whisper-1"]], { audio: wav(0.05) });
  assert.equal(answer.status, 400);
  assert.match(String(at(answer.json, "error", "message")), /shorter than 0\.1 seconds/);
});

test("providers.sandbox-answers: openai, whisper-1 ignores stream and answers JSON", async () => {
  const answer = await transcribe(sandbox.openaiUrl, [
    ["model", "whisper-1"],
    ["stream", "true"],
  ]);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.json?.["text"], TEXT);
});

test("providers.sandbox-answers: openai, a stream is data lines of JSON, the last of them done, and no [DONE]", async () => {
  const answer = await transcribe(sandbox.openaiUrl, [
    ["model", "gpt-4o-transcribe"],
    ["stream", "true"],
  ]);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/);
  const events = answer.text
    .trimEnd()
    .split("\n\n")
    .map((line) => JSON.parse(line.replace(/^data: /, "")) as unknown);
  assert.equal(
    events
      .slice(0, -1)
      .map((event) => at(event, "delta"))
      .join(""),
    TEXT,
  );
  assert.equal(at(events.at(-1), "type"), "transcript.text.done");
});

test("providers.sandbox-answers: openai, default verbose_json has segments and no words; word alone has words and no segments", async () => {
  const plain = await transcribe(sandbox.openaiUrl, [
    ["model", "whisper-1"],
    ["response_format", "verbose_json"],
  ]);
  assert.deepEqual(
    [Array.isArray(plain.json?.["segments"]), plain.json?.["words"], plain.json?.["language"]],
    [true, undefined, "english"],
  );
  const words = await transcribe(sandbox.openaiUrl, [
    ["model", "whisper-1"],
    ["response_format", "verbose_json"],
    ["timestamp_granularities[]", "word"],
  ]);
  assert.deepEqual([words.json?.["segments"], Array.isArray(words.json?.["words"])], [undefined, true]);
});

test("providers.sandbox-answers: openai, rate and request headers are on answers and errors alike", async () => {
  for (const model of ["whisper-1", "nothing"]) {
    const { headers } = await transcribe(sandbox.openaiUrl, [["model", model]]);
    assert.match(headers.get("x-request-id") ?? "", /^req_/);
    assert.equal(headers.get("x-ratelimit-limit-requests"), "500");
    assert.equal(headers.get("openai-version"), "2020-10-01");
  }
});

test("providers.sandbox-refusals: openai, only multipart is read: JSON, a missing boundary and a cut body are 400", async () => {
  const headers = { authorization: "Bearer sk-wire" };
  const bodies: readonly (readonly [string, string])[] = [
    ["application/json", '{"model":"whisper-1"}'],
    ["multipart/form-data", "--x\r\n"],
    ["multipart/form-data; boundary=x", '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1'],
  ];
  for (const [contentType, body] of bodies) {
    const answer = await fetch(`${sandbox.openaiUrl}/audio/transcriptions`, {
      method: "POST",
      body,
      headers: { ...headers, "content-type": contentType },
    });
    assert.equal(answer.status, 400, contentType);
    assert.match(await answer.text(), /Could not parse multipart form/);
  }
});
