// Shows the words in sync with the audio: each is highlighted while it is heard, and links to its time.
import { element } from "../page/element.ts";
import { play } from "./player-keys.ts";
import { clock, LOW_CONFIDENCE, type Piece, pieceAt, spaceBefore, type Turn, turnsOf } from "./timeline.ts";

export interface TranscriptView {
  readonly root: HTMLElement;
  /** Moves to the word that is `places` ahead of the focused or current one. */
  readonly step: (places: number) => void;
  readonly rename: (speaker: string, name: string) => void;
  readonly close: () => void;
}

const COLOURS = 6;
export const colourOf = (speakers: readonly string[], speaker: string): string =>
  `s${speakers.indexOf(speaker) % COLOURS}`;

export function transcriptView(
  pieces: readonly Piece[],
  speakers: readonly string[],
  player: HTMLAudioElement,
  follows: () => boolean,
): TranscriptView {
  const words = pieces.map(wordOf);
  const root = element("div", { class: "transcript", role: "group", "aria-label": "Transcript" });
  root.append(...turnsOf(pieces).map((turn) => turnOf(turn, words, speakers)));
  words[0]?.setAttribute("tabindex", "0");
  let currentIndex = -1;
  let focused = 0;
  let frame = 0;

  const light = (): void => {
    const next = pieceAt(pieces, player.currentTime);
    if (next === currentIndex) return;
    words[currentIndex]?.removeAttribute("aria-current");
    words[next]?.setAttribute("aria-current", "true");
    currentIndex = next;
    if (follows() && !player.paused) words[next]?.scrollIntoView({ block: "nearest" });
  };
  // Player events come only four times a second; a frame takes 17 ms.
  const watch = (): void => {
    // A pause and play within one frame would start a second loop.
    cancelAnimationFrame(frame);
    light();
    frame = player.paused ? 0 : requestAnimationFrame(watch);
  };
  const seek = (index: number): void => {
    player.currentTime = pieces[index]?.start ?? 0;
    light();
  };
  const focus = (index: number): void => {
    words[focused]?.setAttribute("tabindex", "-1");
    focused = index;
    words[index]?.setAttribute("tabindex", "0");
    words[index]?.focus();
  };
  const choose = (event: Event): void => {
    const index = event.target instanceof HTMLElement ? words.indexOf(event.target) : -1;
    if (index === -1 || (event instanceof KeyboardEvent && event.key !== "Enter")) return;
    focus(index);
    seek(index);
    if (event instanceof KeyboardEvent) play(player);
  };
  root.addEventListener("click", choose);
  root.addEventListener("keydown", choose);
  player.addEventListener("play", watch);
  player.addEventListener("seeked", light);
  if (!player.paused) watch();

  return {
    root,
    step: (places) => {
      if (pieces.length === 0) return;
      const from = root.contains(document.activeElement) || currentIndex === -1 ? focused : currentIndex;
      const index = Math.max(0, Math.min(pieces.length - 1, from + places));
      focus(index);
      seek(index);
    },
    rename: (speaker, name) => {
      for (const label of root.querySelectorAll<HTMLElement>(".who"))
        if (label.dataset["speaker"] === speaker) label.textContent = name;
    },
    close: () => {
      cancelAnimationFrame(frame);
      player.removeEventListener("play", watch);
      player.removeEventListener("seeked", light);
    },
  };
}

function wordOf({ text, confidence, start }: Piece): HTMLElement {
  const word = element("span", { class: "word", role: "link", tabindex: "-1" }, text);
  if (confidence === null || confidence >= LOW_CONFIDENCE) return word;
  const confidenceText = `confidence ${Math.round(confidence * 100)} %`;
  word.classList.add("low");
  word.title = `${confidenceText}, at ${clock(start)}`;
  word.setAttribute("aria-label", `${text}, ${confidenceText}`);
  return word;
}

function turnOf(turn: Turn, words: readonly HTMLElement[], speakers: readonly string[]): HTMLElement {
  const { speaker, channel, from, pieces } = turn;
  // The direction depends on the words, not on the speaker's label above.
  const line = element("p", { class: "turn", dir: "auto" });
  const head = element(
    "span",
    { class: "head", dir: "ltr" },
    element("span", { class: "time" }, clock(pieces[0]?.start ?? 0)),
  );
  if (speaker !== null) {
    line.classList.add(colourOf(speakers, speaker));
    head.prepend(element("strong", { class: "who", "data-speaker": speaker }, speaker), " ");
  }
  if (channel !== null) head.append(` channel ${channel + 1}`);
  line.append(head);
  for (const index of pieces.keys()) line.append(spaceBefore(turn, index), words[from + index] ?? "");
  return line;
}
