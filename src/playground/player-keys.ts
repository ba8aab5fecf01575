// Keyboard shortcuts of the player and the transcript, active only while the focus is inside them.
import { byId } from "../page/element.ts";

/** Playing without audio, or pausing before playback began, rejects and is ignored. */
export function play(player: HTMLAudioElement): void {
  if (player.hasAttribute("src")) player.play().catch(() => undefined);
}

const JUMP_SECONDS = 5;

export function usePlayerKeys(player: HTMLAudioElement, step: (places: number) => void): void {
  const dialog = byId("keys", HTMLDialogElement);
  const show = (): void => dialog.showModal();
  const toggle = (): void => (player.paused ? play(player) : player.pause());
  const jump = (seconds: number) => (): void => {
    player.currentTime = Math.max(0, player.currentTime + seconds);
  };
  const actions: Readonly<Record<string, () => void>> = {
    " ": toggle,
    k: toggle,
    j: jump(-JUMP_SECONDS),
    l: jump(JUMP_SECONDS),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    "?": show,
  };
  byId("show-keys", HTMLButtonElement).addEventListener("click", show);
  for (const place of ["listen", "result"])
    byId(place, HTMLElement).addEventListener("keydown", (event) => {
      const { target, key } = event;
      const isOther = event.ctrlKey || event.metaKey || event.altKey || !(target instanceof Element);
      // Text fields and controls that use the space bar keep these keys; so do the player's own bar and a scrollable table.
      if (
        isOther ||
        target.matches("input, textarea, select") ||
        (key === " " && target.matches("button, summary, audio"))
      )
        return;
      if (target.matches("audio, .scroll") && key.startsWith("Arrow")) return;
      const action = actions[key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    });
}
