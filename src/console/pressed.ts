// A call that a button makes: the button waits for its end, whoever pressed it by a key stands on it again, and what went wrong is told.
import type { Outcome } from "../page/ask.ts";
import { refusalView } from "./refusal-view.ts";

/** A refusal is shown in `problem`; `again` as `refusalView` has it. */
export async function pressed<T>(
  own: HTMLButtonElement,
  problem: HTMLElement,
  call: () => Promise<Outcome<T>>,
  again?: () => void | Promise<void>,
): Promise<Outcome<T>> {
  problem.replaceChildren();
  const outcome = await waited(own, call);
  if (!outcome.ok) problem.replaceChildren(refusalView(outcome.failure, outcome.requestId, again));
  return outcome;
}

/** A browser takes the focus from what is disabled, and gives it to nothing. */
export async function waited<T>(own: HTMLButtonElement, call: () => Promise<T>): Promise<T> {
  const isHeld = document.activeElement === own;
  own.disabled = true;
  try {
    return await call();
  } finally {
    own.disabled = false;
    if (isHeld && document.activeElement === document.body) own.focus({ preventScroll: true });
  }
}
