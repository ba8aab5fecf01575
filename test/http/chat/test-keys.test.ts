// Test keys on chat: the sandbox answers in the place of every target, and the answer says so.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { chatOf, postChat } from "../../harness/chat-client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

const TEST_KEY = generateKey("test");
/** Nothing listens there: an answer cannot have come from it. */
const NOWHERE = "http://127.0.0.1:9";
const TARGETS = { openai: "gpt-4o", anthropic: "claude-sonnet-4-5", gemini: "gemini-2.5-flash" } as const;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());

for (const [kind, model] of Object.entries(TARGETS))
  test(`chat.simulated, keys.test-mode: a test key on ${kind}/${model} is answered by the sandbox, and the answer is marked`, async () => {
    const answer = await postChat(gateway.origin, { purpose: kind }, { key: TEST_KEY });
    const { content, warnings } = chatOf(answer);
    assert.ok((content ?? "").length > 0);
    assert.equal(answer.headers.get("x-svc-simulated"), "true");
    assert.ok(warnings.some(({ code }) => code === "SIMULATED_PROVIDER"));
  });

function fileOf(): ConfigurationFile {
  const kinds = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
  return {
    connections: kinds.map((kind) => ({ id: kind, kind, api_key: `${kind}-secret`, base_url: NOWHERE })),
    routes: kinds.map((kind) => ({ id: kind, targets: [{ connection: kind, model: TARGETS[kind] }] })),
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "openai",
            purposes: kinds.map((kind) => ({ purpose: kind, route: kind })),
            keys: [{ id: "test", secret: TEST_KEY, scopes: ["chat"] }],
          },
        ],
      },
    ],
  };
}
