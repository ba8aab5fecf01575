// Describes the attempts of one delivery.
import type { ListedDeliveryView } from "../contract/admin/delivery-list.ts";
import type { AttemptOutcome, DeliveryView } from "../contract/webhook.ts";
import { element } from "../page/element.ts";
import { mark, secondsText, timeView } from "./words.ts";

/** A workspace's own log contains the receivers' answers, the list of all workspaces does not. */
export type Delivery = DeliveryView | ListedDeliveryView;
type Attempt = Delivery["attempts"][number];

const OUTCOMES: Readonly<Record<Exclude<AttemptOutcome, "delivered" | "http_status">, string>> = {
  timeout: "no answer within 15 s",
  connection: "connection failed",
  tls: "TLS failed, possibly because of the certificate",
  address_not_allowed: "its address is not public",
};

/** `answered 500`. */
export function outcomeText({ outcome, status_code: status }: Attempt): string {
  return outcome === "delivered" || outcome === "http_status" ? `answered ${status ?? ""}` : OUTCOMES[outcome];
}

/** Null: it did not fail. */
export function endText({ ended_by: by }: Delivery): string | null {
  return by === null ? null : ENDS[by];
}

const ENDS: Readonly<Record<NonNullable<DeliveryView["ended_by"]>, string>> = {
  attempts: "all attempts failed",
  gone: "the receiver responded 410",
  disabled: "the webhook was disabled",
  deleted: "the webhook was removed",
};

/** Number of attempts and the latest; all of them when expanded. */
export function attemptsView({ attempts }: Delivery): Node | string {
  const latest = attempts.at(-1);
  if (latest === undefined) return "–";
  return element(
    "details",
    {},
    element("summary", {}, `${latest.number}, ${attempts.length === 1 ? "" : "the latest "}${outcomeText(latest)}`),
    element("ol", { class: "steps", start: `${attempts[0]?.number ?? 1}` }, ...attempts.map(attemptItem)),
  );
}

function attemptItem(attempt: Attempt): HTMLElement {
  const tone = attempt.outcome === "delivered" ? "good" : "bad";
  const item = element(
    "li",
    {},
    timeView(attempt.started_at),
    element("br"),
    mark(tone, outcomeText(attempt)),
    ` after ${secondsText(attempt.latency_ms / 1000)}`,
  );
  if ("response" in attempt && attempt.response !== null && attempt.response !== "")
    item.append(element("pre", {}, attempt.response));
  return item;
}
