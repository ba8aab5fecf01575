// Shows the words of both sides passage by passage: differing words are marked, link to their time in the audio, and can be stepped through.
import { gapBetween, joinWords } from "../lib/text/join-words.ts";
import { button, element } from "../page/element.ts";
import { differencesIn, type Label, LABELS, passagesIn, type Row, type Stretch } from "./comparison.ts";
import { play } from "./player-keys.ts";
import { clock } from "./timeline.ts";

export interface AlignedView {
  readonly root: HTMLElement;
  /** Moves to the difference that is `places` ahead. */
  readonly step: (places: number) => void;
}

type Languages = Readonly<Record<Label, string | null>>;

interface Mark {
  /** Index of its difference. */
  readonly difference: number;
  readonly start: number | null;
}

interface AlignedText {
  readonly root: HTMLElement;
  readonly marks: ReadonlyMap<HTMLElement, Mark>;
  /** The marked words of each difference, in page order. */
  readonly marked: readonly (readonly HTMLElement[])[];
}

export function alignedView(rows: readonly Row[], languages: Languages, player: HTMLAudioElement): AlignedView {
  const differences = differencesIn(rows);
  const { root, marks, marked } = alignedText(rows, differences, languages);
  const position = element("p", { class: "soft", role: "status" });
  let current = -1;
  // Roving tabindex: one of all marked words is reachable by the Tab key.
  let reachable = marked[0]?.[0];
  reachable?.setAttribute("tabindex", "0");

  const show = (difference: number, word = marked[difference]?.[0]): void => {
    for (const each of marked[current] ?? []) each.removeAttribute("aria-current");
    reachable?.setAttribute("tabindex", "-1");
    current = difference;
    reachable = word;
    word?.setAttribute("tabindex", "0");
    for (const each of marked[current] ?? []) each.setAttribute("aria-current", "true");
    const start = word === undefined ? null : (marks.get(word)?.start ?? null);
    if (start !== null) player.currentTime = start;
    const at = start === null ? "" : `, at ${clock(start)}`;
    position.textContent = `Difference ${current + 1} of ${differences.length}${at}. ${saidIn(rows, differences[current])}`;
  };
  const stepped = (places: number): HTMLElement | undefined => {
    if (differences.length > 0) show(Math.max(0, Math.min(differences.length - 1, current + places)));
    return reachable;
  };
  const choose = (event: Event): void => {
    const word = event.target instanceof HTMLElement ? event.target : null;
    const mark = word === null ? undefined : marks.get(word);
    if (word === null || mark === undefined || (event instanceof KeyboardEvent && event.key !== "Enter")) return;
    show(mark.difference, word);
    word.focus();
    play(player);
  };
  root.addEventListener("click", choose);
  root.addEventListener("keydown", choose);
  // A button that is pressed repeatedly keeps the focus. Scrolling is not awaited, because only newer browsers report its end.
  const lead = (label: string, places: number): HTMLElement =>
    button(label, () => {
      stepped(places)?.scrollIntoView({ block: "nearest" });
    });
  const steps = element("div", { class: "row wrap steps", role: "group", "aria-label": "Differences" });
  steps.append(lead("Previous", -1), lead("Next", 1), position);
  return {
    root: element("div", {}, ...(differences.length === 0 ? [root] : [legend(), root, steps])),
    step: (places) => stepped(places)?.focus(),
  };
}

function alignedText(rows: readonly Row[], differences: readonly Stretch[], languages: Languages): AlignedText {
  const marks = new Map<HTMLElement, Mark>();
  const marked = differences.map((): HTMLElement[] => []);
  const root = element("div", { class: "aligned", role: "group", "aria-label": "Side-by-side comparison" });
  const numbers = new Map(
    differences.flatMap(({ from, to }, number) => Array.from({ length: to - from }, (_, row) => [from + row, number])),
  );
  for (const passage of passagesIn(rows)) {
    const sides = LABELS.map((label) => sideOf(label, passage));
    root.append(element("div", { class: "pair" }, ...sides));
  }
  return { root, marks, marked };

  function sideOf(label: Label, { from, to }: Stretch): HTMLElement {
    const side = element("p", { class: "said", dir: "auto", lang: languages[label] ?? "" });
    const start = rows[from]?.start ?? null;
    side.append(element("span", { class: "head", dir: "ltr" }, start === null ? label : `${label} ${clock(start)}`));
    let last = "";
    for (const [index, row] of rows.slice(from, to).entries()) {
      const word = row.words[label];
      if (word === null) {
        if (last !== ABSENT) side.append(" ", absent());
        last = ABSENT;
        continue;
      }
      side.append(last === ABSENT ? " " : gapBetween(last, word.text));
      side.append(row.kind === "same" ? word.text : markOf(row, label, word.text, from + index));
      last = word.text;
    }
    return side;
  }

  function markOf(row: Row, label: Label, text: string, index: number): HTMLElement {
    const opposite = label === "A" ? "B" : "A";
    const other = row.words[opposite];
    const about = other === null ? `only in ${label}` : `${opposite} has ${other.text}`;
    const kind = other === null ? "only" : "other";
    const wordElement = element(
      "span",
      { class: `word differs ${kind}`, role: "link", tabindex: "-1", title: about },
      text,
    );
    wordElement.ariaLabel = `${text} (${about})`;
    const difference = numbers.get(index) ?? 0;
    marks.set(wordElement, { difference, start: row.words[label]?.start ?? row.start });
    marked[difference]?.push(wordElement);
    return wordElement;
  }
}

/** Represents the missing word; no real word equals it. */
const ABSENT = "\0";
const absent = (): HTMLElement => element("span", { class: "absent", "aria-hidden": "true" });

function legend(): HTMLElement {
  return element(
    "p",
    { class: "soft" },
    element("span", { class: "differs other" }, "Dashed"),
    ": a different word on the other side. ",
    element("span", { class: "differs only" }, "Framed"),
    ": only on this side, and ",
    absent(),
    " where the other has nothing. Select a marked word to play it.",
  );
}

/** Longest part of a difference that is announced, since the page shows all of it. */
const MOST_SAID = 12;

function saidIn(rows: readonly Row[], stretch: Stretch | undefined): string {
  const passageRows = rows.slice(stretch?.from, stretch?.to);
  return LABELS.map((label) => {
    const words = passageRows.flatMap((row) => row.words[label]?.text ?? []);
    const more = words.length > MOST_SAID ? " …" : "";
    return `${label}: ${joinWords(words.slice(0, MOST_SAID)) || "nothing"}${more}.`;
  }).join(" ");
}
