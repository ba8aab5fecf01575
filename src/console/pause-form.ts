// Pauses a provider account manually, or one model on it: duration and reason, with its current pauses.
import type { PauseView } from "../contract/admin/pauses.ts";
import { element } from "../page/element.ts";
import { confirmed } from "./dialog.ts";
import { formView } from "./form-view.ts";
import { pausesTable, type Place, placePath, placeText } from "./pause-view.ts";
import type { Choice } from "./plain-field.ts";
import type { Visit } from "./visit.ts";
import { part } from "./words.ts";

/** In seconds; one hour is the preset. */
const DURATIONS: readonly Choice[] = [
  ["3600", "1 hour"],
  ["900", "15 minutes"],
  ["14400", "4 hours"],
  ["86400", "1 day"],
  ["604800", "7 days"],
];
/** No model has this name. */
const ALL_MODELS = "*";

interface Pausing {
  readonly id: string;
  readonly models: readonly string[];
  /** Of this connection. */
  readonly pauses: readonly PauseView[];
}

export function pausePart(visit: Visit, { id, models, pauses }: Pausing): Node {
  const requestedModel = visit.query.get("model") ?? ALL_MODELS;
  const form = formView<PauseView>({
    fields: [
      {
        kind: "select",
        name: "model",
        label: "Model",
        choices: [[ALL_MODELS, "All models"], ...models.map((model) => [model, model] as const)],
        value: models.includes(requestedModel) ? requestedModel : ALL_MODELS,
        isRequired: true,
      },
      { kind: "select", name: "duration_seconds", label: "Duration", choices: DURATIONS, isRequired: true },
      {
        kind: "text",
        name: "reason",
        label: "Reason",
        hint: "Shown to administrators and in the audit log, not to callers.",
        placeholder: "announced outage",
      },
    ],
    submit: "Pause",
    confirm: ({ model, duration_seconds: seconds }) =>
      confirmed(`Pause ${nameOf(id, model)}?`, lossOf(seconds), "Pause"),
    send: ({ model, duration_seconds: seconds, ...body }) =>
      visit.ask("POST", `${placePath(visit, ofScope(id))}/pause`, {
        body: { ...body, model: modelOf(model), duration_seconds: Number(seconds) },
      }),
    done: async () => {
      visit.say("Paused.");
      await visit.redraw();
    },
  });
  return part(
    "Pause",
    element(
      "p",
      {},
      "Use this during provider outages or quality problems. No requests are sent until the pause ends or you resume it.",
    ),
    ...(pauses.length === 0 ? [] : [pausesTable(visit, pauses)]),
    form,
  );
}

const ofScope = (connection: string): Place => ({ workspace_id: null, connection, model: null });

const nameOf = (connection: string, model: unknown): string =>
  placeText({ ...ofScope(connection), model: modelOf(model) });

const modelOf = (selection: unknown): string | null =>
  typeof selection === "string" && selection !== ALL_MODELS ? selection : null;

function lossOf(seconds: unknown): string {
  const [, duration = ""] = DURATIONS.find(([value]) => value === seconds) ?? [];
  return `For ${duration} no process sends new requests to it. Calls in progress continue. Routes use their next target. Without one, requests are rejected with 503 and jobs wait.`;
}
