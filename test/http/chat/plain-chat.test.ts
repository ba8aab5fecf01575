// Bodies that are accepted without the schema: only those that it accepts as they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { chatFields } from "../../../src/contract/chat/chat-request.ts";
import { isPlainChat } from "../../../src/contract/chat/plain-chat.ts";

const user = { role: "user", content: "Hello" };
const system = { role: "system", content: "Be brief." };

const plainMessage = fc.record(
  { role: fc.constantFrom("user", "system", "assistant"), content: fc.string() },
  { noNullPrototype: true },
);
const plainBody = fc.record(
  {
    messages: fc.array(plainMessage, { minLength: 1, maxLength: 4 }),
    max_tokens: fc.integer({ min: 1, max: 1_000_000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    stream: fc.boolean(),
    dry_run: fc.boolean(),
  },
  { requiredKeys: ["messages"], noNullPrototype: true },
);
const odd = fc.oneof(
  fc.constantFrom(null, -1, 0, 0.5, 1, 2, 2.5, 1e6, 1e6 + 1, Number.POSITIVE_INFINITY, "", true, [], {}),
  fc.jsonValue(),
);
const member = (...names: readonly string[]) => fc.tuple(fc.constantFrom(...names), odd);
/** Another value in one place, or a field that is not plain. */
const body = fc
  .tuple(
    plainBody,
    fc.option(
      member("messages", "max_tokens", "temperature", "top_p", "stream", "dry_run", "stop", "seed", "constructor"),
    ),
    fc.option(member("role", "content", "name", "tool_calls", "tool_call_id")),
  )
  .map(([plain, field, part]): object => {
    const [first, ...others] = plain.messages;
    const messages = [part === null ? first : { ...first, [part[0]]: part[1] }, ...others];
    return { ...plain, messages, ...(field === null ? {} : { [field[0]]: field[1] }) };
  });

test("chat.plain-chat-parity: what is accepted without the schema is what the schema accepts, with the same result", () => {
  let taken = 0;
  fc.assert(
    fc.property(body, (given) => {
      if (!isPlainChat(given)) return;
      taken += 1;
      const judged = chatFields.safeParse(given);
      assert.ok(judged.success, JSON.stringify(given));
      assert.deepEqual(judged.data, given);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});

test("chat.plain-chat-parity: a chat of texts and numbers needs no schema", () => {
  const options = { max_tokens: 256, temperature: 0, top_p: 1, stream: true, dry_run: false };
  const assistant = { role: "assistant", content: "" };
  assert.ok(isPlainChat({ messages: [user] }));
  assert.ok(isPlainChat({ messages: [system, user, assistant, user], ...options }));
});

const LEFT_TO_THE_SCHEMA: readonly (readonly [what: string, given: object])[] = [
  ["no messages", {}],
  ["an empty conversation", { messages: [] }],
  ["no message of a user", { messages: [system] }],
  ["a tool's answer", { messages: [user, { role: "tool", tool_call_id: "a", content: "1" }] }],
  ["calls of tools", { messages: [user, { role: "assistant", content: "", tool_calls: [] }] }],
  ["content in parts", { messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] }],
  ["content that is null", { messages: [user, { role: "assistant", content: null }] }],
  ["an unknown field of a message", { messages: [{ ...user, name: "Ann" }] }],
  ["null in place of a field", { messages: [user], temperature: null }],
  ["a field of another's", { messages: [user], model: "gpt-5" }],
  ["a name that every object has", { messages: [user], constructor: true }],
  ["too warm", { messages: [user], temperature: 2.01 }],
  ["half a token", { messages: [user], max_tokens: 0.5 }],
  ["no token", { messages: [user], max_tokens: 0 }],
  ["more tokens than are ever asked", { messages: [user], max_tokens: 1_000_001 }],
];

for (const [what, given] of LEFT_TO_THE_SCHEMA) {
  test(`chat.plain-chat-parity: judged by the schema: ${what}`, () => assert.equal(isPlainChat(given), false));
}
