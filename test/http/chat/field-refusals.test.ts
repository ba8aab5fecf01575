// Requests that providers are known to refuse: refused here with their place, rewritten where that loses nothing of what is asked, or
// sent to the targets that take them.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { chatOf, HELLO, postChat } from "../../harness/chat-client.ts";
import { detailsOf } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

const WIRES = ["openai", "anthropic", "gemini"] as const;
const MODELS = { openai: "gpt-4o", anthropic: "claude-sonnet-5", gemini: "gemini-3.5-flash" } as const;
const targetOf = (wire: (typeof WIRES)[number]): string => `${wire}/${MODELS[wire]}`;
const ROUTES = { ...byId(WIRES, targetOf), fallback: [targetOf("anthropic"), targetOf("gemini")] };
const keyOf = (route: string): string => `key-of-the-field-app-${route}-000001`;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["chat"],
        connections: byId(WIRES, (wire) => wire),
        routes: ROUTES,
        apps: byId(Object.keys(ROUTES), (route) => ({ key: keyOf(route) })),
      }),
  });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
const calling = (...ids: readonly string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "x" });
const user = { role: "user", content: "Hello" };
const TOOL = { type: "function", function: { name: "f" } };

const UNMATCHED: readonly (readonly [string, readonly object[], string])[] = [
  ["a call without a result", [user, calling("a"), user], "messages[1].tool_calls[0]"],
  ["a call at the end", [user, calling("a")], "messages[1].tool_calls[0]"],
  ["one of two calls without a result", [user, calling("a", "b"), result("a"), user], "messages[1].tool_calls[1]"],
  ["a call with two results", [user, calling("a"), result("a"), result("a")], "messages[3].tool_call_id"],
  ["a result behind another message", [user, calling("a"), user, result("a")], "messages[1].tool_calls[0]"],
  [
    "a result of an earlier message's call",
    [user, calling("a"), result("a"), user, result("a")],
    "messages[4].tool_call_id",
  ],
];
for (const [name, messages, param] of UNMATCHED)
  for (const path of [undefined, "/v1/chat/completions"])
    test(`chat.tool-result-matching: FLD-16: ${path ?? "/v1/chat"}: ${name} is refused with its place`, async () => {
      const reply = await postChat(
        gateway.origin,
        { messages, tools: [TOOL], ...(path === undefined ? {} : { model: "auto" }) },
        { key: keyOf("openai"), ...(path === undefined ? {} : { path }) },
      );
      assert.equal(reply.status, 400, reply.text);
      assert.equal((reply.json as { error: { param: string } }).error.param, param);
      assert.equal(gateway.sandbox.calls.length, 0);
    });

test("chat.tool-result-matching, providers.chat-adaptation: FLD-16: an id that is used again in a later message is matched there, on every wire", async () => {
  const messages = [user, calling("0"), result("0"), calling("0", "1"), result("1"), result("0")];
  for (const wire of WIRES) chatOf(await postChat(gateway.origin, { messages, tools: [TOOL] }, { key: keyOf(wire) }));
});

const variant = (kind: string, name: string, type: string) => ({
  type: "object",
  properties: { kind: { const: kind }, [name]: { type } },
  required: ["kind", name],
});
const UNION = [variant("city", "name", "string"), variant("point", "lat", "number")];
const tool = (parameters: object, more: object = {}) => ({
  type: "function",
  function: { name: "f", description: "Finds it.", parameters, ...more },
});
/** The schema and the description that the provider was sent. */
function sentTool(): { readonly schema: Record<string, unknown>; readonly description: string } {
  const fields = Object.fromEntries(gateway.sandbox.calls.at(-1)?.fields ?? []);
  const tools = JSON.parse(fields["tools"] ?? "[]") as readonly {
    input_schema?: object;
    description?: string;
    function?: { parameters: object; description: string };
  }[];
  const [first] = tools;
  return {
    schema: (first?.input_schema ?? first?.function?.parameters) as Record<string, unknown>,
    description: first?.description ?? first?.function?.description ?? "",
  };
}

for (const wire of ["anthropic", "openai"] as const) {
  for (const combiner of ["anyOf", "oneOf"] as const)
    test(`chat.tool-schema-merge: FLD-16: ${wire}: ${combiner} at the top of a tool's schema is merged, kept in the description, and reported in a warning`, async () => {
      const given = { [combiner]: UNION };
      const chat = chatOf(
        await postChat(gateway.origin, { messages: HELLO, tools: [tool(given)] }, { key: keyOf(wire) }),
      );
      assert.deepEqual(
        chat.warnings.filter(({ code }) => code === "TOOL_SCHEMA_REWRITTEN").map(({ param }) => param),
        ["tools[0].function.parameters"],
      );
      const { schema, description } = sentTool();
      assert.deepEqual(schema, {
        type: "object",
        properties: { kind: { enum: ["city", "point"] }, name: { type: "string" }, lat: { type: "number" } },
        required: ["kind"],
      });
      assert.ok(description.startsWith("Finds it.") && description.includes(JSON.stringify(given)), description);
    });

  test(`chat.tool-schema-merge: FLD-16: ${wire}: allOf at the top without a conflict is the same schema in one object, without a warning`, async () => {
    const given = {
      $defs: { named: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
      allOf: [{ $ref: "#/$defs/named" }, { type: "object", properties: { age: { type: "integer" } } }],
    };
    const strict = { strict: true };
    const chat = chatOf(
      await postChat(gateway.origin, { messages: HELLO, tools: [tool(given, strict)] }, { key: keyOf(wire) }),
    );
    assert.deepEqual(
      chat.warnings.filter(({ code }) => code === "TOOL_SCHEMA_REWRITTEN"),
      [],
    );
    assert.deepEqual(sentTool().schema, {
      $defs: given.$defs,
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name"],
    });
  });
}

test("chat.tool-schema-merge: FLD-16: a strict tool that a target cannot keep to goes to the next that can, and is 422 where none can", async () => {
  const fields = { messages: HELLO, tools: [tool({ anyOf: UNION }, { strict: true })] };
  chatOf(await postChat(gateway.origin, fields, { key: keyOf("fallback") }));
  assert.deepEqual(
    gateway.sandbox.calls.map(({ wire }) => wire),
    ["gemini"],
  );
  const refused = await postChat(gateway.origin, fields, { key: keyOf("anthropic") });
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual(detailsOf(refused)["missing"], ["tools"]);
});

test("chat.assistant-prefill: FLD-16: a conversation that ends with the assistant skips models that cannot continue it", async () => {
  const messages = [user, { role: "assistant", content: "The answer is " }];
  chatOf(await postChat(gateway.origin, { messages }, { key: keyOf("fallback") }));
  assert.deepEqual(
    gateway.sandbox.calls.map(({ wire }) => wire),
    ["gemini"],
  );
  const refused = await postChat(gateway.origin, { messages }, { key: keyOf("anthropic") });
  assert.equal(refused.status, 422, refused.text);
  assert.deepEqual(detailsOf(refused)["missing"], ["assistant_prefill"]);
  const decision = await postChat(gateway.origin, { messages, dry_run: true }, { key: keyOf("fallback") });
  routingDecision.parse(decision.json);
});
