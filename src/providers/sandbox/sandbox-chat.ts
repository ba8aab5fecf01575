// Chat targets on the sandbox server, for development without a provider account: every chat model that it simulates, each with its provider's protocol
// (`anthropic/claude-opus-5`), and `simulated-chat`, which supports all features.
import { z } from "zod";
import { anthropicChat } from "../anthropic/anthropic-chat.ts";
import { CHAT_MODELS } from "../catalog.ts";
import type { ChatModel, ChatPlan, ChatProvider, ChatTarget } from "../chat/chat-provider.ts";
import { geminiChat } from "../gemini/gemini-chat.ts";
import { withoutLife } from "../life-status.ts";
import { openaiChat } from "../openai/openai-chat.ts";
import { CHAT_FEATURES, CHAT_PREFERENCES, REASONING_EFFORTS } from "../../contract/features.ts";

const SIMULATED: ChatModel = {
  features: CHAT_FEATURES,
  preferences: CHAT_PREFERENCES,
  limits: { ...CHAT_MODELS.openai?.["gpt-4o"]?.limits, reasoningEfforts: REASONING_EFFORTS },
};

interface Wire {
  readonly prefix: string;
  readonly provider: ChatProvider;
  /** The sandbox's path prefix for this protocol. The base URL of a sandbox connection is its origin. */
  readonly basePath: string;
}

const OPENAI: Wire = { prefix: "openai/", provider: openaiChat, basePath: "/openai/v1" };
const WIRES: readonly Wire[] = [
  OPENAI,
  { prefix: "anthropic/", provider: anthropicChat, basePath: "/anthropic" },
  { prefix: "gemini/", provider: geminiChat, basePath: "/gemini" },
];
const PLAIN: Wire = { ...OPENAI, prefix: "" };

export const sandboxChat: ChatProvider = {
  kind: "sandbox",
  models: {
    "simulated-chat": SIMULATED,
    ...Object.fromEntries(
      WIRES.flatMap(({ prefix, provider }) =>
        Object.entries(provider.models).map(([name, model]) => [`${prefix}${name}`, withoutLife(model)]),
      ),
    ),
  },
  unknownModel: SIMULATED,
  // Each protocol validates its own settings. A simulated target accepts those of any.
  settings: z.record(z.string(), z.unknown()),
  defaultBaseUrl: null,
  plan: (request, target) => {
    const wire = wireOf(target);
    const result = wire.provider.plan(request, onWire(target, wire));
    return result.ok ? { ...result, plan: { ...result.plan, path: `${wire.basePath}${result.plan.path}` } } : result;
  },
  isSameModel: (target, answered) => {
    const { prefix, provider } = wireOf(target);
    return provider.isSameModel({ ...target, model: target.model.slice(prefix.length) }, answered);
  },
  chat: (plan, io) => providerOf(plan).chat(plan, io),
  stream: (plan, io) => providerOf(plan).stream(plan, io),
};

function wireOf({ model }: Pick<ChatTarget, "model">): Wire {
  return WIRES.find(({ prefix }) => model.startsWith(prefix)) ?? PLAIN;
}

function onWire(target: ChatTarget, wire: Wire): ChatTarget {
  return { ...target, model: target.model.slice(wire.prefix.length) };
}

function providerOf(plan: ChatPlan): ChatProvider {
  return (WIRES.find(({ basePath }) => plan.path.startsWith(`${basePath}/`)) ?? PLAIN).provider;
}
