// Connects to receivers through the guarded connector by the address rules [webhooks.url-rules]: https unless the operator allows http, any port, public
// addresses unless the operator allows a range. Checked when the URL is saved and at every attempt [webhooks.url-at-attempt].
import { bufferedBody } from "../lib/buffered-body.ts";
import {
  ConnectFailure,
  GuardRefusal,
  type Outbound,
  OutboundError,
  refusalOf,
  type RefusalReason,
} from "../outbound/dial.ts";
import type { TargetPolicy } from "../outbound/url-policy.ts";
import type { ReceiverAnswer, Receivers } from "./services.ts";

/** Reads no more than this. Even less is stored. */
const MAX_REPLY_BYTES = 16 * 1024;

export function createReceivers(outbound: Pick<Outbound, "exchange" | "vet">, policy: TargetPolicy): Receivers {
  return {
    refusal: async (url) => {
      const reason = await refusalOf(outbound, url, policy);
      return reason === null ? null : explain(reason, policy);
    },
    post: async ({ url, headers, body, timeoutMs, signal }) => {
      const bytes = Buffer.from(body);
      try {
        const reply = await outbound.exchange({
          trust: "caller",
          method: "POST",
          url,
          policy,
          headers,
          body: bufferedBody(bytes),
          timeoutMs,
          ...(signal === undefined ? {} : { signal }),
          maxReplyBytes: MAX_REPLY_BYTES,
        });
        return {
          kind: "answer",
          statusCode: reply.status,
          retryAfter: reply.headers["retry-after"],
          bodyStart: reply.text,
        };
      } catch (error) {
        signal?.throwIfAborted();
        return { kind: failureOf(error) };
      }
    },
  };
}

/** `not_resolved` is reported separately only to the operator. Everyone else sees the same answer as for a forbidden address. */
export type ReachOutcome =
  | { readonly kind: "reached" }
  | {
      readonly kind: Exclude<ReceiverAnswer["kind"], "answer"> | "not_resolved";
      /** Shown only to the operator. */
      readonly detail: string | null;
    };

/** Checks whether a delivery could connect, by the same rules and without sending anything. Throws if `signal` aborts. */
export async function reachReceiver(
  outbound: Pick<Outbound, "reach">,
  policy: TargetPolicy,
  url: string,
  signal: AbortSignal,
): Promise<ReachOutcome> {
  try {
    await outbound.reach(url, policy, signal);
    return { kind: "reached" };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GuardRefusal && error.isUnresolved) return { kind: "not_resolved", detail: error.detail };
    return { kind: failureOf(error), detail: detailOf(error) };
  }
}

function detailOf(error: unknown): string | null {
  if (error instanceof GuardRefusal)
    return error.reason === "address_not_public" ? error.detail : `${error.reason} ${error.detail}`;
  return error instanceof ConnectFailure ? error.detail : null;
}

function failureOf(error: unknown): Exclude<ReceiverAnswer["kind"], "answer"> {
  if (error instanceof GuardRefusal) return "address_not_allowed";
  if (error instanceof ConnectFailure) return error.stage === "connect" ? "connection" : error.stage;
  if (error instanceof OutboundError) return error.failure === "timeout" ? "timeout" : "connection";
  throw error;
}

const OWN_MACHINE = "For a receiver on your own machine use `patchbay listen`.";

/** Names the rule that was violated, but never the address that a name resolves to inside this network. */
function explain(reason: RefusalReason, policy: TargetPolicy): string {
  switch (reason) {
    case "malformed":
      return "The URL must be a plain https://host[:port]/path: no user name, no blanks, no escapes in the host.";
    case "scheme":
      return policy.schemes.includes("http:")
        ? "The URL must begin with https:// or http://."
        : `The URL must begin with https://. ${OWN_MACHINE}`;
    case "port":
      return "The URL names a port that cannot be delivered to.";
    case "host_not_allowed":
    case "address_not_public":
      return `The URL's host must have public addresses, and only such, and be known to name servers now. ${OWN_MACHINE}`;
  }
}
