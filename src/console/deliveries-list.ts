// The log of webhook deliveries: event, attempts and outcome.
import type { DeliveryState } from "../contract/webhook.ts";
import { button, element } from "../page/element.ts";
import { attemptsView, type Delivery, endText } from "./delivery-attempts.ts";
import type { Filter } from "./filter-view.ts";
import { type LiveList, liveList } from "./live-list.ts";
import type { Names } from "./names.ts";
import type { Visit } from "./visit.ts";
import { link, mark, timeView, type Tone } from "./words.ts";

const TONES: Readonly<Record<DeliveryState, Tone>> = { pending: "busy", delivered: "good", failed: "bad" };

export const STATUS_FILTER: Filter = {
  name: "status",
  label: "State",
  kind: "select",
  choices: [["", "any"], ...Object.keys(TONES).map((status) => [status, status] as const)],
};

interface DeliveriesOptions {
  /** Includes its filters. */
  readonly path: string;
  readonly empty: string;
  /** If the list covers several workspaces. */
  readonly workspaces?: Names;
  /** Redelivers it, if that is possible here. */
  readonly again?: (delivery: Delivery) => Promise<void>;
}

export function deliveriesList(
  visit: Visit,
  { path, empty, workspaces, again }: DeliveriesOptions,
): Promise<LiveList<Delivery>> {
  return liveList<Delivery>(visit, {
    caption: "Deliveries in the last seven days, newest first",
    path,
    heads: [
      "State",
      "Event",
      "Job",
      ...(workspaces === undefined ? [] : ["Workspace"]),
      "Since",
      "Attempts",
      "Next attempt",
      ...(again === undefined ? [] : ["Redeliver"]),
    ],
    row: (delivery) => [
      stateOf(delivery),
      eventText(delivery),
      delivery.test ? "–" : jobLink(visit, delivery.event.job_id),
      ...(workspaces === undefined ? [] : ["workspace" in delivery ? workspaces.of(delivery.workspace) : "–"]),
      timeView(delivery.created_at),
      attemptsView(delivery),
      timeView(delivery.next_attempt_at),
      ...(again === undefined
        ? []
        : [button(delivery.status === "pending" ? "Deliver now" : "Redeliver", () => again(delivery))]),
    ],
    empty,
    keyOf: ({ id }) => id,
    stateOf: ({ status }) => status,
    isMoving,
    noun: ["delivery", "deliveries"],
  });
}

/** Links to the job's state, end and request. */
function jobLink(visit: Visit, id: string): HTMLElement {
  return link(visit.link("jobs", [], { job: id }), element("code", { class: "id" }, id));
}

/** A delivery that waits longer does not keep the list refreshing. */
const SOON_MS = 60_000;

function isMoving({ status, next_attempt_at: next }: Delivery): boolean {
  return status === "pending" && (next === null || Date.parse(next) - Date.now() < SOON_MS);
}

function stateOf(delivery: Delivery): HTMLElement {
  const box = element("div", {}, mark(TONES[delivery.status], delivery.status));
  const reason = endText(delivery);
  if (reason !== null) box.append(element("span", { class: "soft" }, reason));
  return box;
}

function eventText({ event, test: isTest }: Delivery): string {
  return isTest ? "a test" : event.type.slice(event.type.indexOf(".") + 1).replace(".", " ");
}
