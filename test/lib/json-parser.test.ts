// Large JSON is parsed in a thread: what it makes is what JSON.parse makes, and what ends the thread ends nothing else.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createJsonParser, type JsonParserOptions } from "../../src/lib/json/json-parser.ts";

function parserFor(t: TestContext, options: JsonParserOptions = {}) {
  const parser = createJsonParser(options);
  t.after(() => parser.close());
  const parse = async (text: string | Buffer, owner = "acme", signal = new AbortController().signal) =>
    (await parser.parse([new Uint8Array(Buffer.from(text))], { owner, signal })).body;
  return { parser, parse };
}

const TRANSCRIPT = {
  text: "héllo ".repeat(40_000),
  words: Array.from({ length: 40_000 }, (_, at) => ({ word: `wörd${at}`, start: at / 10, end: at / 10 + 0.09 })),
};

test("api.json-thread, api.json-exact: R17, a transcript of 40,000 words comes out as it went in, split anywhere in its bytes", async (t) => {
  const { parser } = parserFor(t);
  const bytes = Buffer.from(JSON.stringify(TRANSCRIPT));
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; at += 65_537) blocks.push(new Uint8Array(bytes.subarray(at, at + 65_537)));
  const { body } = await parser.parse(blocks, { owner: "acme", signal: new AbortController().signal });
  assert.deepEqual(body, TRANSCRIPT);
});

test("api.json-thread: R17, what is no JSON is undefined, and the next text is parsed", async (t) => {
  const { parse } = parserFor(t);
  for (const text of ["", "{", "[1,]", "\ufeff{}", "[".repeat(2_000_000)]) assert.equal(await parse(text), undefined);
  assert.deepEqual(await parse("[1]"), [1]);
});

test("api.json-thread: R17, a text that would fill the thread's heap is not parsed, and the process and the next text are unaffected", async (t) => {
  const { parse } = parserFor(t, { heapMebibytes: 32 });
  assert.equal(await parse(`[${"{},".repeat(3_000_000)}{}]`), undefined);
  assert.equal(await parse(JSON.stringify("ж".repeat(10_000_000))), undefined);
  assert.deepEqual(await parse('{"a":[1]}'), { a: [1] });
});

test("api.json-thread: R17, a text that takes too long is given up, and the next one is parsed", async (t) => {
  const { parse } = parserFor(t, { killAfterMs: 1 });
  assert.equal(await parse(`[${"{},".repeat(1_000_000)}{}]`), undefined);
  const { parse: parsePatiently } = parserFor(t);
  assert.deepEqual(await parsePatiently("[2]"), [2]);
});

test("api.fair-turns, api.wait-abort: R17, waiting texts are served round-robin by owner, and a wait can be aborted", async (t) => {
  const { parse } = parserFor(t);
  const large = JSON.stringify(TRANSCRIPT);
  const order: string[] = [];
  const note = async (owner: string, name: string) => {
    await parse(large, owner);
    order.push(name);
  };
  const aborted = new AbortController();
  const running = [note("a", "a1"), note("a", "a2"), note("a", "a3"), note("b", "b1")];
  const givenUp = parse(large, "b", aborted.signal);
  aborted.abort(new Error("gone"));
  await assert.rejects(givenUp, /gone/u);
  await Promise.all(running);
  assert.deepEqual(order, ["a1", "b1", "a2", "a3"]);
});
