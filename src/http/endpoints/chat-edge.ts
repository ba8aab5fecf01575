// The steps that all chat endpoints share: admission until the response ends, one call to the gateway, and a plain or streamed response. Each
// endpoint formats its own response.
import type { z } from "zod";
import type { Principal } from "../../auth/principal.ts";
import type { ChatFields } from "../../contract/chat/chat.ts";
import { type Admission, bodyOwner } from "../../gateway/admission.ts";
import { chat, streamChat } from "../../gateway/chat/chat.ts";
import { type ChatCall, type ChatStreamPart } from "../../gateway/chat/chat-call.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { declaredLength } from "../body/content-type.ts";
import { type HandlerContext, principalOf, recorderOf, type Reply } from "../server/endpoint.ts";
import type { ErrorReplyContext } from "../reply/error-reply.ts";
import type { FieldSchema } from "../body/fields.ts";
import { readPassedOn } from "../body/read-fields.ts";
import { refuseAnyQuery } from "../body/refuse-query.ts";
import { routedHeaders } from "../server/routed-headers.ts";
import { sendGatewayReply } from "../reply/send-gateway-reply.ts";
import type { ServerEvent } from "../reply/sse.ts";
import { watchAuthorization } from "../server/watch-authorization.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";

export interface ChatEdge {
  readonly gateway: GatewayServices;
  readonly admission: Admission;
  readonly maxBodyBytes: number;
  readonly publicUrl: () => string;
}

/** A request converted to this API's fields, and the formatting of its response. */
export interface WordedChat {
  readonly fields: ChatFields;
  readonly present: ChatCall["present"];
  readonly events: (
    parts: AsyncIterable<readonly ChatStreamPart[]>,
    errors: Omit<ErrorReplyContext, "accept">,
  ) => AsyncIterable<readonly ServerEvent[]>;
}

export async function serveChat<S extends FieldSchema>(
  edge: ChatEdge,
  context: HandlerContext<Principal>,
  schema: S,
  word: (input: z.infer<S>) => WordedChat,
): Promise<Reply> {
  const principal = principalOf(context);
  const { headers } = context.request;
  const routed = routedHeaders(headers);
  const resources = new ChatResources(await mapDatabaseUnavailable(edge.gateway.quotas.enter(principal)));
  let isStreamed = false;
  try {
    const declaredBytes = declaredLength(headers) ?? 0;
    // A body that announces more than the limit is refused for its size without being read, so it needs no capacity.
    const bytes = declaredBytes > edge.maxBodyBytes ? 0 : declaredBytes;
    const body = resources.with(edge.admission.enter({ owner: bodyOwner(principal), place: "memory", bytes }));
    // Fields are sent in the body. A route-control field is refused in the query too.
    refuseAnyQuery(context.request.query);
    const received = (receivedBytes: number): void => body.received(receivedBytes);
    const input = await readPassedOn(context.request, schema, { maxBytes: edge.maxBodyBytes, received });
    const { fields, present, events } = word(input);
    const call = {
      requestId: context.requestId,
      endpoint: context.endpoint,
      principal,
      fields,
      purposeHeader: routed.purpose,
      idempotencyKey: routed.idempotencyKey,
      recorder: recorderOf(context),
      receivedAtMs: context.receivedAtMs,
      clientGone: context.clientGone,
      room: context.room,
      present,
    };
    if (fields.stream !== true || fields.dry_run === true) {
      return sendGatewayReply(await chat(edge.gateway, call));
    }
    const { ended } = resources.with(watchAuthorization([context.clientGone], context.callerNow));
    const stream = await streamChat(edge.gateway, { ...call, clientGone: ended });
    const errors = { requestId: context.requestId, publicUrl: edge.publicUrl() };
    isStreamed = true;
    return {
      status: 200,
      headers: stream.simulated ? { "x-svc-simulated": "true", ...stream.facts } : stream.facts,
      body: { events: events(stream.parts, errors), held: resources },
    };
  } finally {
    if (!isStreamed) resources[Symbol.dispose]();
  }
}

/**
 * Holds a chat's permits, the memory of its body and the watch of a stream. Not a `DisposableStack` with `using`, which costs 1 % of the time of
 * a plain chat.
 */
class ChatResources implements Disposable {
  readonly #leave: () => void;
  readonly #resources: Disposable[] = [];

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  with<T extends Disposable>(resource: T): T {
    this.#resources.push(resource);
    return resource;
  }

  [Symbol.dispose](): void {
    for (const resource of this.#resources) resource[Symbol.dispose]();
    this.#leave();
  }
}
