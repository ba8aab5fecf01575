// What models can do, as tables: one of those that take audio, one of those that chat.
import { element, table } from "../page/element.ts";
import type { Capability } from "./model-features.ts";
import { AUDIO_FEATURES, CHAT_FEATURES } from "./model-features.ts";

/** As the list of models and the test of a connection have it. */
export interface Ability {
  readonly model: string;
  readonly capabilities: readonly Capability[];
  readonly features: readonly string[];
  readonly weak_features: readonly string[];
  /** Whether the account lists it; null: nobody knows. */
  readonly found?: boolean | null;
}

const TABLES = [
  ["audio_input", "Models that take audio", AUDIO_FEATURES.map(([name]) => name)],
  ["chat", "Models that chat", CHAT_FEATURES.map(([name]) => name)],
] as const;

/** `nameOf`: how a model is shown, with a link perhaps. What no model has is left out. */
export function abilityTables(models: readonly Ability[], nameOf: (model: string) => Node | string): readonly Node[] {
  return TABLES.flatMap(([capability, caption, every]) => {
    const those = models.filter(({ capabilities }) => capabilities.includes(capability));
    if (those.length === 0) return [];
    const columns = every.filter((name) =>
      those.some(({ features, weak_features: weak }) => features.includes(name) || weak.includes(name)),
    );
    const isListed = those.some(({ found }) => typeof found === "boolean");
    const heads = ["Model", ...(isListed ? ["the account lists it"] : []), ...columns].map(brokenAtDots);
    const rows = those.map((each) => [
      nameOf(each.model),
      ...(isListed ? [tick(each.found ?? null)] : []),
      ...columns.map((name) => (each.weak_features.includes(name) ? "weak" : tick(each.features.includes(name)))),
    ]);
    const view = table(caption, heads, rows);
    view.classList.add("matrix");
    for (const cell of view.querySelectorAll("td:first-child"))
      cell.replaceWith(element("th", { scope: "row" }, ...cell.childNodes));
    return [view];
  });
}

/** A sign for who sees it, a word for who hears it. */
function tick(is: boolean | null): Node {
  const [sign, word] = is === null ? ["?", "unknown"] : is ? ["✓", "yes"] : ["–", "no"];
  return element(
    "span",
    {},
    element("span", { "aria-hidden": "true" }, sign),
    element("span", { class: "hidden" }, word),
  );
}

/** Long names of features may break there. */
const brokenAtDots = (name: string): string => name.replaceAll(/[._]/gu, (sign) => `${sign}\u200B`);
