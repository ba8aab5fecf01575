// The steps of a chat in the order of docs/reference/errors.md, one named step a line. The endpoint has checked the key, scope, limits and body before; the
// compatible endpoint calls it too.
import { CHAT_PREFERENCES } from "../../contract/features.ts";
import { newId } from "../../contract/ids.ts";
import { askedChatFeatures } from "../../providers/chat/unmet-chat-features.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import { requiredAspects } from "../../routing/data-policy.ts";
import { type ChatDecision, decideChatRoute } from "../../routing/decide-chat-route.ts";
import { appOf } from "../account/app-of.ts";
import { chatAnswer } from "./chat-answer.ts";
import { chatRequest } from "./chat-request.ts";
import { dryRunChat } from "../dry-run/dry-run.ts";
import { chatSlotRequest } from "../idempotency/slot-request.ts";
import { chatPlanner, type PlanServices } from "./plan-chat.ts";
import { deadlineOf } from "../deadline.ts";
import { requireRoute } from "../calls/routing-errors.ts";
import { type GatewayReply, jsonReply } from "../reply.ts";
import type { RequestedOptions } from "../request-record.ts";
import { type UnavailabilityServices, unavailabilityFor } from "../calls/target-unavailability.ts";
import { routingFacts } from "../routing-facts.ts";
import { runChat } from "./run-chat.ts";
import type { GatewayServices } from "../services.ts";
import { openChatStream } from "./stream-chat.ts";
import { abortSignalFor, withSlot } from "../idempotency/with-slot.ts";
import type { ChatCall, ChatStream } from "./chat-call.ts";

export async function chat(services: GatewayServices, call: ChatCall): Promise<GatewayReply> {
  if (call.fields.dry_run === true) return explain(services, call);
  return withSlot(services, chatSlotRequest(call), call.recorder, async (slot) => {
    const decision = requireRoute(call, decideChat(services, call, false));
    const signal = abortSignalFor(call.clientGone, slot);
    const deadlineAtMs = deadlineOf(services, call);
    const served = await runChat(services, call, decision, { slot, signal, deadlineAtMs });
    const answer = chatAnswer({ id: newId("chat"), createdAt: services.now(), decision, ...served });
    const simulated = served.attempt.billing.billingClass === "simulated";
    const body = call.present(answer, served.content);
    const facts = body === answer ? {} : routingFacts(answer);
    const reply = jsonReply(200, body, simulated ? { "x-svc-simulated": "true", ...facts } : facts);
    await served.settle(reply);
    return reply;
  });
}

/** Resolves with the provider's first content. Until then every failure is an ordinary error response. Idempotency keys are ignored. */
export async function streamChat(services: GatewayServices, call: ChatCall): Promise<ChatStream> {
  return openChatStream(services, call, requireRoute(call, decideChat(services, call, true)));
}

/** Decides and records the route of every request, stream and dry run. */
export function decideChat(
  services: UnavailabilityServices & PlanServices,
  call: Pick<ChatCall, "principal" | "fields" | "purposeHeader" | "recorder">,
  stream: boolean,
): ChatDecision {
  const { key, workspace } = call.principal;
  const app = appOf(call.principal);
  const request = chatRequest(call.fields, stream);
  const decision = decideChatRoute(
    services.directory().contextOf(workspace.id, app, key.routing),
    {
      request,
      purpose: { body: call.fields.purpose ?? null, header: call.purposeHeader, policy: null },
      profile: call.fields.response_profile ?? null,
      dataPolicy: call.fields.data_policy ?? null,
      plan: chatPlanner(services, request),
    },
    unavailabilityFor(services, call.principal),
  );
  // Chat has one policy: an unusable purpose falls back [routing.purpose-chat].
  call.recorder.decided(decision, askedOf(call, request), "fallback");
  return decision;
}

function askedOf({ fields }: Pick<ChatCall, "fields">, request: ChatRequest): RequestedOptions {
  return {
    capability: "chat",
    features: [...askedChatFeatures(request), ...requiredAspects(fields.data_policy)],
    preferences: CHAT_PREFERENCES.filter((preference) => fields[preference] !== undefined),
    profile: fields.response_profile ?? null,
    stream: request.stream,
    dry_run: fields.dry_run === true,
  };
}

/** `dry_run`: checks everything up to the call; nothing is reserved, called or stored [routing.dry-run]. */
async function explain(services: GatewayServices, call: ChatCall): Promise<GatewayReply> {
  const decision = decideChat(services, call, call.fields.stream === true);
  return jsonReply(200, await dryRunChat(services, call.principal, decision));
}
