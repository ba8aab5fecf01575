// The route of a chat: judged by the adapter's plan, in the key's own route, whatever audio is routed to.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatRequest } from "../../src/providers/chat/chat-provider.ts";
import { type ChatDecision, decideChatRoute } from "../../src/routing/decide-chat-route.ts";
import type { PurposeRequest } from "../../src/routing/resolve-purpose.ts";
import type { RoutingContext } from "../../src/routing/types.ts";
import { HELLO } from "../providers/chat/fixtures.ts";
import { audioContext, purpose, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const REQUEST: ChatRequest = { ...HELLO, messages: [], maxTokens: null };
const PLANNED = { ok: true, plan: { path: "", query: [], headers: {}, body: {} }, dropped: [] } as const;

/** Adapters plan for every target but those at `unable`, which lack tools. */
function decide(
  context: RoutingContext,
  {
    unable = [],
    resting = [],
    asked = {},
  }: {
    readonly unable?: readonly number[];
    readonly resting?: readonly number[];
    readonly asked?: Partial<PurposeRequest>;
  } = {},
): ChatDecision {
  return decideChatRoute(
    context,
    {
      request: REQUEST,
      purpose: { body: null, header: null, policy: null, ...asked },
      profile: null,
      plan: ({ position }) => (unable.includes(position) ? { ok: false, missing: ["tools"] } : PLANNED),
    },
    ({ position }) => (resting.includes(position) ? { kind: "after_failures" } : null),
  );
}

test("chat.required-features: a target whose adapter cannot plan the request is not eligible and lists what it lacks; the others are called in order", () => {
  const own = route("r", [textTarget(1), speechTarget(2), textTarget(3), textTarget(4)]);
  const decision = decide(audioContext(own, [own]), { unable: [1], resting: [3] });
  assert.ok(decision.ok);
  assert.deepEqual(
    decision.candidates.map(({ target }) => target.position),
    [4],
  );
  assert.deepEqual(
    decision.considered.map(({ target, verdict }) => [target.position, verdict.missing, verdict.planned]),
    [
      [1, ["tools"], null],
      [3, [], PLANNED],
      [4, [], PLANNED],
    ],
  );
});

test("chat.required-features, routing.unsupported: where no adapter can plan it, the chat is refused as unsupported, with what all of them lack", () => {
  const own = route("r", [textTarget(1), textTarget(2)]);
  const decision = decide(audioContext(own, [own]), { unable: [1, 2], resting: [1, 2] });
  assert.ok(!decision.ok);
  assert.deepEqual(decision.refusal, { kind: "unsupported", missing: ["tools"] });
});

test("routing.key-route: a key's audio route is not its chat's", () => {
  const own = route("own", [textTarget(1)]);
  const forAudio = route("for-audio", [textTarget(1), speechTarget(2)]);
  const decision = decide(audioContext(own, [own, forAudio], { audioInputOverride: forAudio }));
  assert.ok(decision.ok);
  assert.equal(decision.route.id, "own");
});

test("routing.purpose-chat: a purpose whose route has no chat model is not applied to a chat, and the warning says why", () => {
  const speech = route("speech", [speechTarget(1)]);
  const own = route("own", [textTarget(1)], { purposes: [purpose("meetings", "speech")] });
  const decision = decide(audioContext(own, [own, speech]), { asked: { body: "meetings" } });
  assert.ok(decision.ok);
  assert.deepEqual(
    decision.warnings.map(({ details }) => details),
    [{ reason: "no_chat_model" }],
  );
});
