// Modal dialogs: a confirmation, and a secret that is shown once.
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

/** Whether it was confirmed. `what` says what happens to which object, and whether it can be undone. */
export async function confirmed(title: string, what: Node | string, label: string): Promise<boolean> {
  let isYes = false;
  const yes = button(label, () => {
    isYes = true;
    openDialog.close();
  });
  yes.className = "danger";
  const no = button("Cancel", () => openDialog.close());
  const openDialog: Shown = showDialog(
    title,
    typeof what === "string" ? element("p", {}, what) : what,
    element("div", { class: "row wrap" }, no, yes),
  );
  no.focus();
  // Navigating away counts as a refusal.
  const elsewhere = (): void => openDialog.close();
  window.addEventListener("hashchange", elsewhere);
  await openDialog.closed;
  window.removeEventListener("hashchange", elsewhere);
  return isYes;
}

/** Shows a secret once; resolves when the user closes it. */
export function showSecret(title: string, secret: string, ...after: readonly (Node | string)[]): Promise<void> {
  const close = button("I have saved it", () => openDialog.close());
  const openDialog: Shown = showDialog(
    title,
    element("p", {}, "It is shown only once and cannot be displayed again."),
    element("pre", { class: "secret" }, element("code", {}, secret)),
    element(
      "div",
      { class: "row wrap" },
      copyButton("Copy", () => secret),
      close,
    ),
    ...after,
  );
  // Escape, or a back gesture, which fires no key event, must not close a secret that cannot be shown again.
  const closing = new AbortController();
  const { signal } = closing;
  const stay = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key === "Escape") event.preventDefault();
  };
  openDialog.dialog.addEventListener("cancel", stay, { signal });
  // After a selection by pointer, the focus is outside the dialog.
  document.addEventListener("keydown", stay, { signal });
  return openDialog.closed.finally(() => closing.abort());
}
