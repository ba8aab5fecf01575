// A body means the same however the network cuts it (BAD-118), and means the same as JSON and as a form.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import * as fc from "fast-check";
import { audioOf, BOUNDARY, cut, type Part, form, formRequest, openBench, request } from "./bodies.ts";

const audios = fc.oneof(
  fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes)),
  // Full of what looks like a boundary.
  fc
    .array(fc.constantFrom("\r\n", "\r", "\n", "--", `\r\n--${BOUNDARY.slice(0, -1)}`, "\r\n--", "x", '"', "\\"), {
      maxLength: 60,
    })
    .map((pieces) => Buffer.from(pieces.join(""))),
);
const text = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((value) => value.isWellFormed());
const fields = fc.record(
  {
    diarization: fc.boolean(),
    speaker_count_hint: fc.integer({ min: 1, max: 32 }),
    prompt: text,
    language: fc.constantFrom("en", "pt-BR", "zh-Hans-CN"),
    keyterms: fc.array(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 }),
    redaction: fc.oneof(fc.boolean(), fc.uniqueArray(fc.constantFrom("pii", "pci"), { minLength: 1 })),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const sizes = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.integer({ min: 1, max: 3_000 })),
  {
    minLength: 1,
    maxLength: 6,
  },
);

function partsOf(values: Record<string, unknown>): Part[] {
  return Object.entries(values).flatMap(([name, value]) =>
    name === "keyterms"
      ? [{ name, value: JSON.stringify(value) }]
      : Array.isArray(value)
        ? value.map((item) => ({ name: `${name}[]`, value: String(item) }))
        : [{ name, value: String(value) }],
  );
}

test("request-body.chunking: 300 forms and JSON bodies, cut at random, give the fields and bytes that were sent", async (t) => {
  const bench = await openBench(t);
  await fc.assert(
    fc.asyncProperty(
      audios,
      fields,
      sizes,
      fc.nat({ max: 6 }),
      fc.boolean(),
      async (audio, values, steps, place, isUrlSafe) => {
        const parts = partsOf(values);
        parts.splice(place % (parts.length + 1), 0, { name: "file", fileName: "a.wav", value: audio });
        const base64 = audio.toString(isUrlSafe ? "base64url" : "base64").replace(/.{30}/g, "$&\r\n");
        const entries = Object.entries<unknown>(values);
        entries.splice(place % (entries.length + 1), 0, ["audio", { filename: "a.wav", base64 }]);
        const json = Buffer.from(JSON.stringify(Object.fromEntries(entries), null, place % 3).replaceAll("/", "\\/"));
        const bodies = [
          formRequest(cut(form(parts), steps)),
          request(cut(json, steps), { "content-type": "application/json" }),
        ];
        for (const body of bodies) {
          const read = await bench.read(body);
          assert.deepEqual(read.fields, values);
          assert.ok(read.audio.kind === "spooled");
          assert.equal(read.audio.spooled.sizeBytes, audio.length);
          assert.equal(await read.audio.spooled.sha256(), createHash("sha256").update(audio).digest("hex"));
          assert.deepEqual(await audioOf(read), audio);
        }
      },
    ),
    { numRuns: 300 },
  );
  await bench.isEmpty();
});

test("request-body.chunking: 300 damaged bodies get the same verdict however they are cut, and leave nothing", async (t) => {
  const bench = await openBench(t);
  const verdict = async (body: Parameters<typeof bench.read>[0]) => {
    try {
      const read = await bench.read(body, 3_000);
      const bytes = read.audio.kind === "spooled" ? await audioOf(read) : read.audio.url;
      return { fields: read.fields, bytes };
    } catch (error) {
      // The count of a body cut short depends on where its pieces end; everything else may not.
      const { code, param, details } = error as {
        code: string;
        param: string | null;
        details: Record<string, unknown> | null;
      };
      return { code, param, issues: details?.["issues"] };
    }
  };
  const damage = fc.record({
    at: fc.nat({ max: 5_000 }),
    byte: fc.constantFrom(0, 0x0a, 0x0d, 0x22, 0x2d, 0x3a, 0x5c, 0x7d, 0x3d, 0xff),
  });
  await fc.assert(
    fc.asyncProperty(
      audios,
      fields,
      sizes,
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      async (audio, values, steps, damages) => {
        const json = Buffer.from(JSON.stringify({ ...values, audio: { base64: audio.toString("base64") } }));
        const wire = form([...partsOf(values), { name: "file", fileName: "a.wav", value: audio }]);
        for (const { at, byte } of damages) {
          json[at % json.length] = byte;
          wire[at % wire.length] = byte;
        }
        const type = { "content-type": "application/json" };
        assert.deepEqual(await verdict(request(cut(json, steps), type)), await verdict(request([json], type)));
        assert.deepEqual(await verdict(formRequest(cut(wire, steps))), await verdict(formRequest([wire])));
        await bench.isEmpty();
      },
    ),
    { numRuns: 300 },
  );
});

const WORST_FIRST: readonly [string, string, RegExp][] = [
  [
    "audio that is not base64, then levels too deep",
    `{"audio":{"base64":"{"${"[".repeat(70)}`,
    /^`audio\.base64` is not base64/,
  ],
  ["levels too deep, then more bytes than allowed", `${"[".repeat(70)}${" ".repeat(4_000)}`, /nested deeper/],
];
for (const [what, body, first] of WORST_FIRST) {
  test(`request-body.chunking, request-body.all-issues: ${what}: the same faults in the same order, whether it comes whole or byte by byte`, async (t) => {
    const bench = await openBench(t);
    const refused = async (size: number) => {
      const pieces = cut(Buffer.from(body), size);
      const error = await bench.refuses(
        request(pieces, { "content-type": "application/json" }),
        "INVALID_REQUEST",
        3_000,
      );
      return error.details?.["issues"] as readonly { readonly message: string }[];
    };
    const whole = await refused(body.length);
    assert.match(whole[0]?.message ?? "", first);
    assert.deepEqual(await refused(1), whole);
  });
}
