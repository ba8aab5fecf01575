// Shows an error with what to do and a link to its documentation.
import type { Failure } from "./ask.ts";
import { copyButton, element } from "./element.ts";

/** `title`: attributes of the heading, for pages that move the focus there. */
export function failureView(
  failure: Failure,
  requestId: string | null,
  title: Readonly<Record<string, string>> = {},
): HTMLElement {
  const box = element("section", { class: "failure", role: "alert" });
  if (failure.kind === "refused") {
    const { code, message, param, retryable, details } = failure.error;
    const retryTime = failure.retryAfter === null ? "later" : `in ${failure.retryAfter} s`;
    box.append(
      element("h2", title, element("code", {}, code), ` · ${failure.status}`),
      element("p", {}, message),
      element(
        "p",
        {},
        retryable
          ? `The same request may succeed ${retryTime}.`
          : "The same request will not succeed: change it as the message says.",
      ),
    );
    if (param !== null) box.append(element("p", {}, "At fault: ", element("code", {}, param)));
    const link = element("a", { href: `/docs/errors#${code}` }, `What ${code} means, and what to do`);
    box.append(element("p", {}, link));
    if (details !== null)
      box.append(
        element("details", {}, element("summary", {}, "Details"), element("pre", {}, JSON.stringify(details, null, 2))),
      );
  } else {
    const [what, text] = WORDS[failure.kind];
    box.append(element("h2", title, what), element("p", {}, text));
    if (failure.kind === "unreadable") box.append(element("p", {}, `It had the status ${failure.status}.`));
  }
  if (requestId !== null) box.append(requestIdLine(requestId));
  return box;
}

/** The error in one sentence. */
export function wordsOf(failure: Failure): string {
  return failure.kind === "refused" ? failure.error.message : "The gateway did not answer.";
}

const WORDS: Readonly<Record<Exclude<Failure["kind"], "refused">, readonly [title: string, text: string]>> = {
  unreachable: [
    "No answer from the gateway",
    "The connection failed, so nothing is known of the request. Does the gateway still run, and is this machine online? A large file may have been refused before all of it was sent.",
  ],
  unsendable: ["The file cannot be read", "It was changed or removed since it was chosen. Choose it again."],
  unreadable: [
    "An answer that is not the gateway's",
    "Something between this page and the gateway answered, a proxy perhaps. Ask whoever runs it.",
  ],
  cancelled: ["Cancelled", "This page waits for its answer no longer."],
};

export function requestIdLine(requestId: string): HTMLElement {
  return element(
    "p",
    { class: "facts" },
    "Request ",
    element("code", {}, requestId),
    " ",
    copyButton("Copy id", () => requestId),
  );
}
