// GET /v1/transcription/realtime: validates like any request, then opens a WebSocket for a live transcription [realtime.refused-before-upgrade].
import type { Principal } from "../../auth/principal.ts";
import type { RealtimeTokens } from "../../auth/realtime-tokens.ts";
import { getRealtimeContract, type RealtimeStart } from "../../contract/transcription/realtime.ts";
import { type Admission, bodyOwner } from "../../gateway/admission.ts";
import { liveTranscription } from "../../gateway/realtime/live-transcription.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { schedule } from "../body/body-rate.ts";
import { type EndpointWithToken, type HttpRequest, principalOf, recorderOf } from "../server/endpoint.ts";
import { runLiveSession } from "../socket/live-session.ts";
import { refuseAnyQuery } from "../body/refuse-query.ts";
import { routedHeaders } from "../server/routed-headers.ts";
import { watchAuthorization } from "../server/watch-authorization.ts";
import { tokenAmong } from "../socket/subprotocol.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";

export interface RealtimeEdge {
  readonly gateway: GatewayServices;
  readonly admission: Admission;
  readonly tokens: RealtimeTokens;
  readonly publicUrl: () => string;
}

export function getRealtime({ gateway, admission, tokens, publicUrl }: RealtimeEdge): EndpointWithToken<Principal> {
  return {
    contract: getRealtimeContract,
    // A browser can set no header but the subprotocol. The session belongs to the key for which the token was issued.
    authenticate: (request) => {
      const token = tokenIn(request);
      return token === null || request.headers.authorization !== undefined ? null : tokens.redeem(token);
    },
    handle: async (context) => {
      refuseAnyQuery(context.request.query);
      const principal = principalOf(context);
      const routed = routedHeaders(context.request.headers);
      const { requestId, endpoint } = context;
      const recorder = recorderOf(context);
      await using held = new AsyncDisposableStack();
      held.defer(await mapDatabaseUnavailable(gateway.quotas.enter(principal)));
      held.use(admission.enter({ owner: bodyOwner(principal), place: "memory", bytes: 0 }));
      const liveCall = ({ encoding, type: _type, sample_rate: _rate, ...fields }: RealtimeStart) => ({
        requestId,
        endpoint,
        task: "transcribe" as const,
        principal,
        fields: { ...fields, stream: true },
        purposeHeader: routed.purpose,
        policyHeader: routed.policy,
        encoding,
        recorder,
      });
      const resources = held.move();
      return {
        status: 101,
        body: {
          release: () => resources.disposeAsync(),
          session: async (client, stopping) => {
            using watch = watchAuthorization([], context.callerNow);
            await runLiveSession(
              client,
              {
                requestId,
                publicUrl: publicUrl(),
                schedule,
                nowMs: () => performance.now(),
                onBroken: (code) => recorder.broke(code),
                onFault: (err) => gateway.logger.error({ request_id: requestId, err }, "live transcription failed"),
                transcribe: (start, frames, clientGone) =>
                  liveTranscription(gateway, { ...liveCall(start), clientGone }, frames),
              },
              { stopping, revoked: watch.ended },
            );
          },
        },
      };
    },
  };
}

function tokenIn({ headers }: HttpRequest): string | null {
  return tokenAmong((headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim()));
}
