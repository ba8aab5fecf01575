// Errors for a caller-supplied URL to which nothing was sent: the rules forbid it, or the vetted address is unreachable.
import type { TargetPolicy } from "./url-policy.ts";
import { OutboundError } from "./wire-call.ts";

export type RefusalReason = "malformed" | "scheme" | "port" | "host_not_allowed" | "address_not_public";

/** `detail` is for the operator's log only: callers must not learn what a name resolves to inside the operator's network. */
export class GuardRefusal extends Error {
  readonly reason: RefusalReason;
  readonly detail: string;
  /** No name server returned an address, so no rule forbids it. */
  readonly isUnresolved: boolean;

  constructor(reason: RefusalReason, detail: string, isUnresolved = false) {
    super(`refused: ${reason}`);
    this.name = "GuardRefusal";
    this.reason = reason;
    this.detail = detail;
    this.isUnresolved = isUnresolved;
  }
}

/** The vetted address could not be reached. */
export class ConnectFailure extends OutboundError {
  readonly stage: "connect" | "tls" | "timeout";
  /** The error code of the system or of TLS, only for the operator. */
  readonly detail: string | null;

  constructor(stage: ConnectFailure["stage"], detail: string | null = null) {
    super(stage === "timeout" ? "timeout" : "connection", false, stage.toUpperCase());
    this.name = "ConnectFailure";
    this.stage = stage;
    this.detail = detail;
  }
}

/** Null: it may be dialled now. */
export async function refusalOf(
  outbound: { vet(url: string, policy: TargetPolicy): Promise<void> },
  url: string,
  policy: TargetPolicy,
): Promise<RefusalReason | null> {
  try {
    await outbound.vet(url, policy);
    return null;
  } catch (error) {
    if (error instanceof GuardRefusal) return error.reason;
    throw error;
  }
}
