// Shows a comparison as it progresses: each side as it ends, then both side by side with their difference rate, and exports.
import { download } from "../page/download.ts";
import { button, copyButton, element, table } from "../page/element.ts";
import { failureView } from "../page/error-view.ts";
import { type AlignedView, alignedView } from "./aligned-view.ts";
import { type Compared, comparisonName, comparisonText, fileName, type HeardSide } from "./compare-export.ts";
import { FACTS, purposeWords, type Side, warningsOf } from "./compare-side.ts";
import { onlyIn, simulatedMark, summaryOf, WHAT_IT_IS } from "./compare-words.ts";
import { type Comparison, compareWords } from "./comparison.ts";
import { exportText, isSimulated } from "./exports.ts";
import { otherRecording } from "./result-view.ts";
import { costText, mayPass } from "./paid-once.ts";

export type Sides = readonly [Side, Side];

export interface ComparisonView {
  readonly root: HTMLElement;
  /** Shows the current state of both sides. */
  readonly update: (sides: Sides) => Promise<void>;
  readonly step: (places: number) => void;
}

export interface ComparisonViewOptions extends Pick<Compared, "audioName" | "options"> {
  readonly player: HTMLAudioElement;
  readonly again: (side: Side) => Promise<void>;
}

export function comparisonView({ audioName, options, player, again }: ComparisonViewOptions): ComparisonView {
  const ribbon = element("p", { class: "ribbon", hidden: "" });
  const title = element("h2", { id: "result-title", tabindex: "-1" }, "Comparison");
  const summary = element("p", { role: "status" });
  const facts = element("div");
  const transcripts = element("div");
  const tools = element("div", { class: "row wrap tools", role: "group", "aria-label": "Export" });
  const root = element(
    "section",
    { "aria-labelledby": "result-title" },
    ribbon,
    title,
    summary,
    facts,
    transcripts,
    tools,
  );
  let states = "";
  let aligned: AlignedView | null = null;
  let latest: Sides;

  return { root, update, step: (places) => aligned?.step(places) };

  async function update(sides: Sides): Promise<void> {
    latest = sides;
    const mark = simulatedMark(sides);
    ribbon.hidden = mark === null;
    ribbon.textContent = mark;
    if (sides.some(({ now }) => now.state === "heard")) showFacts(factsTable(sides));
    const previousStates = states;
    states = sides.map(({ now }) => now.state).join(" ");
    // A newly loaded record changes only the facts.
    if (states === previousStates) return;
    const isHere = [transcripts, tools].some((part) => part.contains(document.activeElement));
    const transcribedSides = bothHeard(sides);
    if (transcribedSides === null) showEach(sides);
    else await showBoth(transcribedSides);
    // The focused element was removed.
    if (isHere && !root.contains(document.activeElement)) title.focus();
  }

  /** Updates cell by cell, so that focus and selection stay. */
  function showFacts(next: HTMLElement): void {
    const cells = facts.querySelectorAll("td");
    if (cells.length === 0) return facts.replaceChildren(next);
    for (const [index, cell] of [...next.querySelectorAll("td")].entries()) {
      const currentCell = cells[index];
      if (currentCell !== undefined && !currentCell.isEqualNode(cell)) currentCell.replaceWith(cell);
    }
  }

  function showEach(sides: Sides): void {
    transcripts.replaceChildren(element("div", { class: "pair" }, ...sides.map((side) => sideView(side, again))));
    tools.replaceChildren(...transcriptFiles(sides));
    const isOver = sides.every(({ now }) => now.state !== "waiting");
    summary.textContent = isOver ? "Nothing to compare: one side has no transcript." : "";
  }

  async function showBoth(sides: readonly [HeardSide, HeardSide]): Promise<void> {
    const [A, B] = [sides[0].now, sides[1].now];
    summary.textContent = "Comparing the words…";
    // Two long transcripts take half a second, so the summary is painted before.
    await new Promise((done) => setTimeout(done));
    const comparison = compareWords(A.spoken.words, B.spoken.words);
    summary.textContent = summaryOf(comparison);
    aligned = alignedView(comparison.rows, { A: A.transcript.language, B: B.transcript.language }, player);
    const warnings = warningsOf(A.transcript, B.transcript).map(({ only, code, message }) =>
      element("p", { class: "warning" }, `${onlyIn(only)}: `, element("code", {}, code), ` ${message}`),
    );
    transcripts.replaceChildren(
      element("p", { class: "soft" }, WHAT_IT_IS),
      ...warnings,
      otherRecording(A.transcript, player),
      aligned.root,
    );
    tools.replaceChildren(...comparisonFiles(comparison), ...transcriptFiles(sides));
  }

  function comparisonFiles(comparison: Comparison): readonly HTMLElement[] {
    return (["txt", "json"] as const).map((format) =>
      button(`Comparison as ${format.toUpperCase()}`, () => {
        // Includes records loaded meanwhile.
        const sides = bothHeard(latest);
        if (sides === null) return;
        const compared: Compared = { audioName, options, sides, comparison };
        download(comparisonName(compared, format), comparisonText(compared, format));
      }),
    );
  }

  function transcriptFiles(sides: Sides): readonly HTMLElement[] {
    return sides.flatMap(({ label, now }) => {
      if (now.state !== "heard") return [];
      const { transcript } = now;
      const name = fileName(audioName, label, isSimulated(transcript), "json");
      return button(`${label} as JSON`, () => download(name, exportText(transcript, "json")));
    });
  }
}

function bothHeard(sides: Sides): readonly [HeardSide, HeardSide] | null {
  const [one, other] = sides;
  if (one.now.state !== "heard" || other.now.state !== "heard") return null;
  return [
    { ...one, now: one.now },
    { ...other, now: other.now },
  ];
}

function factsTable(sides: Sides): HTMLElement {
  const rows = Object.entries(FACTS).map(([name, textOfFact]) => [
    name,
    ...sides.map(({ now }) => (now.state === "heard" ? textOfFact(now) : "–")),
  ]);
  const requests = sides.map(({ now }) => {
    const id = now.state === "heard" ? now.transcript.request_id : undefined;
    return id === undefined
      ? "–"
      : element(
          "span",
          {},
          element("code", {}, id),
          " ",
          copyButton("Copy id", () => id),
        );
  });
  const heads = ["", ...sides.map(({ label, purpose }) => `${label}: ${purposeWords(purpose)}`)];
  return table("Details", heads, [...rows, ["Request", ...requests]]);
}

function sideView(side: Side, again: ComparisonViewOptions["again"]): HTMLElement {
  const { label, purpose, now } = side;
  const box = element("div", {}, element("h3", {}, `${label}: ${purposeWords(purpose)}`));
  if (now.state === "waiting") box.append(element("p", { class: "soft" }, "Waiting for its answer…"));
  else if (now.state === "heard")
    box.append(
      element(
        "p",
        { class: "plain", dir: "auto", lang: now.transcript.language ?? "" },
        now.transcript.content || "No words were found.",
      ),
    );
  else {
    const { failure, requestId } = now;
    box.append(failureView(failure, requestId));
    if (mayPass(failure))
      box.append(
        button(`Ask ${label} again`, () => again(side)),
        element("p", { class: "soft" }, costText(failure)),
      );
  }
  return box;
}
