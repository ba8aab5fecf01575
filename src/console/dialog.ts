// What is asked or shown before anything else goes on.
import { button, copyButton, element } from "../page/element.ts";

interface Shown {
  readonly dialog: HTMLDialogElement;
  close(): void;
  readonly closed: Promise<void>;
}

export function showDialog(title: string, ...content: readonly (Node | string)[]): Shown {
  const heading = element("h2", { id: "dialog-title", tabindex: "-1" }, title);
  const dialog = element("dialog", { "aria-labelledby": "dialog-title" }, heading, ...content);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  dialog.addEventListener("close", () => {
    dialog.remove();
    resolve();
  });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, close: () => dialog.close(), closed };
}

/** Whether it was confirmed. `what` says what will happen, to whom, and whether it can be undone. */
export async function confirmed(title: string, what: Node | string, label: string): Promise<boolean> {
  let isYes = false;
  const yes = button(label, () => {
    isYes = true;
    shown.close();
  });
  yes.className = "danger";
  const no = button("Cancel", () => shown.close());
  const shown: Shown = showDialog(
    title,
    typeof what === "string" ? element("p", {}, what) : what,
    element("div", { class: "row wrap" }, no, yes),
  );
  no.focus();
  // Whoever goes elsewhere has not said yes.
  const elsewhere = (): void => shown.close();
  window.addEventListener("hashchange", elsewhere);
  await shown.closed;
  window.removeEventListener("hashchange", elsewhere);
  return isYes;
}

/** A secret, this once; ends when its reader closes it. */
export function showSecret(title: string, secret: string, ...after: readonly (Node | string)[]): Promise<void> {
  const close = button("I have kept it", () => shown.close());
  const shown: Shown = showDialog(
    title,
    element("p", {}, "It is shown this once: nobody can read it here again."),
    element("pre", { class: "secret" }, element("code", {}, secret)),
    element(
      "div",
      { class: "row wrap" },
      copyButton("Copy", () => secret),
      close,
    ),
    ...after,
  );
  // A key pressed by habit must not take away what nobody can show again; nor a telephone's gesture, for which there is no key.
  const ended = new AbortController();
  const { signal } = ended;
  const stay = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key === "Escape") event.preventDefault();
  };
  shown.dialog.addEventListener("cancel", stay, { signal });
  // Whoever selected the secret with a pointer holds no element of the dialog.
  document.addEventListener("keydown", stay, { signal });
  return shown.closed.finally(() => ended.abort());
}
