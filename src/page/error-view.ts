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
          : "The same request will fail again. Change it as described in the message.",
      ),
    );
    if (param !== null) box.append(element("p", {}, "Field: ", element("code", {}, param)));
    const link = element("a", { href: `/docs/errors#${code}` }, `${code}: meaning and solution`);
    box.append(element("p", {}, link));
    if (details !== null)
      box.append(
        element("details", {}, element("summary", {}, "Details"), element("pre", {}, JSON.stringify(details, null, 2))),
      );
  } else {
    const [what, text] = WORDS[failure.kind];
    box.append(element("h2", title, what), element("p", {}, text));
    if (failure.kind === "unreadable") box.append(element("p", {}, `HTTP status ${failure.status}.`));
  }
  if (requestId !== null) box.append(requestIdLine(requestId));
  return box;
}

/** The error in one sentence. */
export function wordsOf(failure: Failure): string {
  return failure.kind === "refused" ? failure.error.message : "The gateway did not respond.";
}

const WORDS: Readonly<Record<Exclude<Failure["kind"], "refused">, readonly [title: string, text: string]>> = {
  unreachable: [
    "No answer from the gateway",
    "The connection failed, so the outcome of the request is unknown. Check that the gateway is running and that this machine is online. A large file may have been rejected before it was sent completely.",
  ],
  unsendable: ["The file cannot be read", "It was changed or removed after it was chosen. Choose it again."],
  unreadable: [
    "Unexpected response",
    "The response is not from the gateway, possibly from a proxy. Contact the operator of the network.",
  ],
  cancelled: ["Cancelled", "This page no longer waits for the response."],
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
