// A chat as it is reserved and settled, for tests of what it is paid from.
import { newId } from "../../src/contract/ids.ts";
import type { Reservation, Settlement } from "../../src/metering/ledger-entries.ts";
import type { makeTenant } from "../harness/postgres/database.ts";

type Tenant = Awaited<ReturnType<typeof makeTenant>>;

export function chatReservation(
  tenant: Tenant,
  tokens: number,
  nanoUsd = 0n,
  rest: Partial<Reservation> = {},
): Reservation {
  return {
    attemptId: newId("attempt"),
    requestId: newId("request"),
    ...tenant,
    keyId: null,
    endpoint: "POST /v1/chat",
    connection: "c",
    provider: "openai",
    model: "m",
    position: 1,
    billingClass: "metered",
    audioMs: 0,
    tokens,
    reserveNanoUsd: nanoUsd,
    estimateNanoUsd: nanoUsd,
    price: null,
    deadlineAt: new Date(Date.now() + 60_000),
    ...rest,
  };
}

export function chatSettlement(
  { attemptId }: Pick<Reservation, "attemptId">,
  used: number,
  chargeNanoUsd = 0n,
  outcome: Settlement["outcome"] = "succeeded",
): Settlement {
  return {
    attemptId,
    outcome,
    providerMs: null,
    billableAudioMs: 0,
    chargeNanoUsd,
    providerRequestId: null,
    receipts: [],
    usage: { inputTokens: used, outputTokens: 0, cachedInputTokens: 0, source: "reported" },
  };
}
