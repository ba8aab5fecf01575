// Why nothing was sent to an address that somebody else supplied: the rules forbid it, or what was vetted cannot be reached.
import type { TargetPolicy } from "./target-policy.ts";
import { OutboundError } from "./wire-call.ts";

export type RefusalReason = "malformed" | "scheme" | "port" | "host_not_allowed" | "address_not_public";

/** `detail` is for the operator's log alone: callers must not learn what a name resolves to in here. */
export class GuardRefusal extends Error {
  readonly reason: RefusalReason;
  readonly detail: string;
  /** No name server had an address: no rule forbids it. */
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
  /** The system's or TLS's code, for the operator alone. */
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
