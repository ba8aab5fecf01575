// Tables of model capabilities: one for audio models, one for chat models.
import type { ModelLifeView, NotOfferedView } from "../contract/model-life.ts";
import { element, table } from "../page/element.ts";
import type { Capability } from "./model-features.ts";
import { lifeMark } from "./life-view.ts";
import { AUDIO_FEATURES, CHAT_FEATURES } from "./model-features.ts";

/** The common fields of the model list and a connection test. */
export interface Ability {
  readonly model: string;
  readonly capabilities: readonly Capability[];
  readonly features: readonly string[];
  readonly weak_features: readonly string[];
  /** Null: unknown. Absent for a declared model. */
  readonly life?: ModelLifeView | null;
  readonly not_offered?: NotOfferedView;
  /** Whether the account lists it. Null: unknown. */
  readonly found?: boolean | null;
}

const TABLES = [
  ["audio_input", "Audio models", AUDIO_FEATURES.map(([name]) => name)],
  ["chat", "Chat models", CHAT_FEATURES.map(([name]) => name)],
] as const;

/** `nameOf`: how a model is shown, for example as a link. Features that no model has are skipped. */
export function abilityTables(models: readonly Ability[], nameOf: (model: string) => Node | string): readonly Node[] {
  return TABLES.flatMap(([capability, caption, every]) => {
    const those = models.filter(({ capabilities }) => capabilities.includes(capability));
    if (those.length === 0) return [];
    const columns = every.filter((name) =>
      those.some(({ features, weak_features: weak }) => features.includes(name) || weak.includes(name)),
    );
    const isListed = those.some(({ found }) => typeof found === "boolean");
    const hasLife = those.some(({ life = null }) => life !== null);
    const heads = [
      "Model",
      ...(hasLife ? ["status"] : []),
      ...(isListed ? ["listed by the account"] : []),
      ...columns,
    ].map(brokenAtDots);
    const rows = those.map((each) => [
      nameOf(each.model),
      ...(hasLife ? [lifeMark(each.life ?? null, each.not_offered)] : []),
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

/** A sign for sighted readers, a word for screen readers. */
function tick(state: boolean | null): Node {
  const [sign, word] = state === null ? ["?", "unknown"] : state ? ["✓", "yes"] : ["–", "no"];
  return element(
    "span",
    {},
    element("span", { "aria-hidden": "true" }, sign),
    element("span", { class: "hidden" }, word),
  );
}

/** Allows line breaks in long feature names. */
const brokenAtDots = (name: string): string => name.replaceAll(/[._]/gu, (sign) => `${sign}\u200B`);
