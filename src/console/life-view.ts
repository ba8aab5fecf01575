// Shows the life of a model: its status in tables, and evidence and successors as facts [console.model-life].
import type { ModelLifeView, NotOfferedView } from "../contract/model-life.ts";
import { lifeText } from "../lib/text/life-text.ts";
import { element } from "../page/element.ts";
import { factList, mark, part, type Tone } from "./words.ts";

const TONES: Readonly<Record<ModelLifeView["status"], Tone>> = {
  current: "good",
  deprecated: "soft",
  ending: "warn",
  retired: "bad",
};

/** The evidence is a tooltip. Null: nothing is known of it. */
export function lifeMark(life: ModelLifeView | null, notOffered: NotOfferedView = null): Node {
  if (life === null) return document.createTextNode("unknown");
  const evidence = `verified ${life.verified_on}, ${life.ends_on?.source ?? life.source}`;
  const view =
    notOffered === null
      ? mark(TONES[life.status], lifeText(life.status, life.days_left))
      : mark("soft", "not offered here");
  view.title = notOffered === null ? evidence : `since ${notOffered.since}: ${notOffered.reason}; ${evidence}`;
  return view;
}

/** For a choice of models: empty for one that continues. */
export function lifeNote(life: ModelLifeView | null): string {
  return life === null || life.status === "current" ? "" : lifeText(life.status, life.days_left);
}

export function lifePart(life: ModelLifeView): HTMLElement {
  const { verified_on: verified, source, deprecated_on: deprecated, ends_on: end, redirect, replaced_by } = life;
  return part(
    "Life",
    factList([
      ["Status", lifeMark(life)],
      ["Verified", `${verified}, ${source}`],
      ...(deprecated === null ? [] : [["Deprecated", deprecated] as const]),
      ...(end === null ? [] : [["Ends", `${end.date}, ${evidenceText(end)}`] as const]),
      ...(redirect === null
        ? []
        : [["Answered by", `${redirect.model} from ${redirect.date} on, ${evidenceText(redirect)}`] as const]),
      ...(replaced_by.length === 0 ? [] : [["Replaced by", successorsView(replaced_by)] as const]),
    ]),
  );
}

function evidenceText({ evidence, source }: NonNullable<ModelLifeView["ends_on"]>): string {
  return evidence === "vendor" ? source : `second-hand: ${source}`;
}

function successorsView(successors: ModelLifeView["replaced_by"]): HTMLElement {
  return element(
    "ul",
    {},
    ...successors.map(({ model, lacks }) =>
      element("li", {}, lacks.length === 0 ? model : `${model}, without ${lacks.join(", ")}`),
    ),
  );
}
