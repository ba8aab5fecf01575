// The form row of one target of a route: model, account, and settings of this target.
import type { Profile } from "../contract/features.ts";
import type { AssignableModel } from "../contract/admin/workspace-models.ts";
import { button, element } from "../page/element.ts";
import type { Choice } from "./form-view.ts";
import { lifeNote } from "./life-view.ts";
import { nameOf, type Target } from "./route-shape.ts";

export interface TargetRow {
  readonly box: HTMLElement;
  readonly name: () => string;
  /** Its current position. */
  readonly number: (index: number, count: number) => void;
  readonly value: (index: number) => Target | Error;
  readonly focus: () => void;
  /** Focuses the button that moved it, or the opposite one at the end of the list. */
  readonly focusMove: (by: -1 | 1) => void;
}

const PROFILES = ["fast", "balanced", "deep"] as const satisfies readonly Profile[];

export function targetRow(
  models: readonly AssignableModel[],
  target: Target,
  { move, remove }: { readonly move: (by: -1 | 1) => void; readonly remove: () => void },
): TargetRow {
  const connection = selectOf(connectionsOf(models), target.connection);
  const model = element("select", {});
  const offer = (selection: string): void => fill(model, modelsOn(models, connection.value), selection);
  offer(target.model);
  connection.addEventListener("change", () => offer(""));
  const profiles = PROFILES.map((profile) => {
    const box = element("input", { type: "checkbox", value: profile });
    box.checked = target.profiles.includes(profile);
    return box;
  });
  const settings = element("textarea", { rows: "4", spellcheck: "false", placeholder: '{"smart_format": true}' });
  settings.value = Object.keys(target.settings).length === 0 ? "" : JSON.stringify(target.settings, null, 2);
  const timeout = element("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
  timeout.value = `${target.first_content_timeout_seconds}`;
  const up = button("Move up", () => move(-1));
  const down = button("Move down", () => move(1));
  const legend = element("legend", {});
  const box = element(
    "fieldset",
    { class: "target" },
    legend,
    element("label", {}, "Connection", connection),
    element("label", {}, "Model", model),
    element(
      "div",
      { role: "group", "aria-label": "Profiles" },
      element("span", { class: "soft" }, "Profiles (none selected: all) "),
      ...profiles.map((each) => element("label", {}, each, each.value)),
    ),
    element(
      "details",
      {},
      element("summary", {}, "Settings and timeout"),
      element("label", {}, "Provider settings, as JSON", settings),
      element("label", {}, "Chat streams: timeout for the first content, in seconds", timeout),
    ),
    element("div", { class: "row wrap" }, up, down, button("Remove", remove)),
  );
  const value = (index: number): Target | Error => {
    const parsedSettings = settingsIn(settings.value, `targets[${index}].settings`);
    if (parsedSettings instanceof Error) return parsedSettings;
    const seconds = Number(timeout.value.trim() || "300");
    return {
      ...target,
      connection: connection.value,
      model: model.value,
      profiles: profiles.filter(({ checked }) => checked).map((each) => each.value),
      settings: parsedSettings,
      // An invalid number is sent as typed, for the gateway to refuse.
      first_content_timeout_seconds: Number.isFinite(seconds) ? seconds : (timeout.value as unknown as number),
    };
  };
  return {
    box,
    name: () => nameOf({ connection: connection.value, model: model.value }),
    number: (index, count) => {
      legend.textContent = `Target ${index + 1}`;
      up.disabled = index === 0;
      down.disabled = index === count - 1;
      const parts = { connection, model, settings, first_content_timeout_seconds: timeout };
      for (const [name, control] of Object.entries(parts)) control.dataset["param"] = `targets[${index}].${name}`;
    },
    value,
    focus: () => connection.focus(),
    focusMove: (by) => {
      const [first, other] = by === -1 ? [up, down] : [down, up];
      (first.disabled ? other : first).focus();
    },
  };
}

function settingsIn(text: string, param: string): Readonly<Record<string, unknown>> | Error {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    return new Error(`The settings are not valid JSON: ${error instanceof Error ? error.message : ""}`, {
      cause: param,
    });
  }
}

function connectionsOf(models: readonly AssignableModel[]): readonly Choice[] {
  const own = models.some(({ connection_owner: owner }) => owner === "workspace");
  const found = models.flatMap(({ connection, connection_owner: owner, provider }) => {
    if (connection === null) return [];
    const ownerSuffix = own ? (owner === "workspace" ? ", own" : ", shared") : "";
    return [
      [
        connection,
        connection === provider ? `${connection}${ownerSuffix}` : `${connection} (${provider}${ownerSuffix})`,
      ] as const,
    ];
  });
  return [...new Map(found)];
}

const REASONS: Readonly<Record<NonNullable<AssignableModel["reason"]>, string>> = {
  no_connection: "no connection",
  no_credential: "no credential yet",
  not_installed: "not installed",
  not_offered: "not offered here",
  unpriced: "no price for the plan",
  credits_required: "not covered by the plan",
};
const TAKES: Readonly<Record<AssignableModel["capabilities"][number], string>> = { audio_input: "audio", chat: "chat" };

function modelsOn(models: readonly AssignableModel[], connection: string): readonly Choice[] {
  return models
    .filter((each) => each.connection === connection)
    .map(({ model, capabilities, reason, life }) => {
      const note = lifeNote(life);
      const words = [
        ...capabilities.map((each) => TAKES[each]),
        ...(note === "" ? [] : [note]),
        ...(reason === null ? [] : [REASONS[reason]]),
      ];
      return [model, `${model} (${words.join(", ")})`];
    });
}

function selectOf(choices: readonly Choice[], selection: string): HTMLSelectElement {
  const select = element("select", {});
  fill(select, choices, selection);
  return select;
}

/** A choice that no longer exists stays visible; the gateway reports what is wrong with it. */
function fill(select: HTMLSelectElement, choices: readonly Choice[], selection: string): void {
  const isGone = selection !== "" && !choices.some(([value]) => value === selection);
  const all: readonly Choice[] = isGone ? [...choices, [selection, `${selection} (missing)`]] : choices;
  select.replaceChildren(...all.map(([value, label]) => element("option", { value }, label)));
  select.value = selection === "" ? (all[0]?.[0] ?? "") : selection;
}
