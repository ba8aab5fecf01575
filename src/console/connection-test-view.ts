// Tests a connection by a button, or at once after it was created, and shows the result.
import type { ConnectionTest, TestOutcome } from "../contract/admin/connection-test.ts";
import type { ConnectionView } from "../contract/admin/connections.ts";
import { button, element, pressed } from "../page/element.ts";
import { CONNECTION_KINDS, connectionPath } from "./connection-kinds.ts";
import { callWithError } from "./call-with-error.ts";
import type { Visit } from "./visit.ts";
import { factList, link, mark, orNone, part, secondsText, timeView, type Tone } from "./words.ts";

const OUTCOMES: Readonly<Record<TestOutcome, readonly [tone: Tone, words: string]>> = {
  accepted: ["good", "credential accepted"],
  unproven: ["warn", "not verified"],
  restricted: ["warn", "not permitted to test"],
  refused: ["bad", "credential rejected"],
  no_credential: ["bad", "no credential"],
  out_of_credit: ["bad", "out of credit"],
  busy: ["warn", "rate limited"],
  failing: ["warn", "provider error"],
  unreachable: ["bad", "no answer"],
  address_refused: ["bad", "address not allowed"],
  unexpected: ["bad", "unexpected response"],
};
/** Calls may succeed. */
const FIT: ReadonlySet<TestOutcome> = new Set(["accepted", "unproven", "restricted"]);

/** Another credential may fix it. */
const OF_CREDENTIAL: ReadonlySet<TestOutcome> = new Set(["refused", "no_credential"]);
/** Id of the form part that replaces the credential. Connections of the file lack it. */
export const REPLACE_CREDENTIAL = "replace-credential";

interface TestOptions {
  readonly connection: ConnectionView;
  /** Tests without a button press. */
  readonly isAtOnce: boolean;
  readonly tested: (test: ConnectionTest) => void;
}

export function connectionTestView(visit: Visit, { connection, isAtOnce, tested }: TestOptions): HTMLElement {
  const result = element("div", { role: "status" });
  const go = button("Test", async () => run());
  go.id = "test-connection";
  const box = part(
    "Test",
    element(
      "p",
      {},
      "Sends one free request to the provider with the stored credential. Nothing is changed or counted.",
    ),
    element("div", { class: "row" }, go),
    result,
  );
  if (isAtOnce) void pressed(go, run);
  return box;

  async function run(): Promise<void> {
    const outcome = await callWithError(result, () => {
      result.replaceChildren(element("p", {}, "Testing, for at most 10 s…"));
      return visit.ask<ConnectionTest>("POST", `${connectionPath(connection.id)}/test`);
    });
    if (!outcome.ok) return;
    result.replaceChildren(...resultOf(visit, connection, outcome.data));
    tested(outcome.data);
  }
}

function resultOf(visit: Visit, connection: ConnectionView, test: ConnectionTest): readonly Node[] {
  const { outcome, message, asked: question, status, code, took_ms: tookMs, checked_at: at } = test;
  const [tone, usual] = OUTCOMES[outcome];
  const words = outcome === "accepted" && !connection.has_credential ? "responds without a credential" : usual;
  const facts = factList([
    ["Request", element("code", {}, question)],
    ["Response", status === null ? orNone(code) : [`HTTP ${status}`, ...(code === null ? [] : [code])].join(" ")],
    ["Duration", secondsText(tookMs / 1_000)],
    ["Time", timeView(at)],
  ]);
  return [
    element("p", {}, mark(tone, words)),
    element("p", {}, message),
    facts,
    ...(FIT.has(outcome) ? [nextStep(visit, connection)] : []),
    ...(OF_CREDENTIAL.has(outcome) ? replaceButton() : []),
  ];
}

/** If the gateway does not know its models, a model must be declared before a route can name it. */
function nextStep(visit: Visit, { id, kind, models }: ConnectionView): HTMLElement {
  if (!CONNECTION_KINDS[kind].wantsModels || Object.keys(models).length > 0)
    return element("p", {}, "Next: ", link(visit.link("routes"), "add it to a route"), ", so that requests reach it.");
  const declare = link(visit.link("connections", [id, "models"]), "declare a model");
  return element("p", {}, "Next: ", declare, ", so that routes can name it.");
}

function replaceButton(): readonly Node[] {
  const field = document.querySelector<HTMLElement>(`#${REPLACE_CREDENTIAL} input`);
  return field === null
    ? []
    : [
        element(
          "div",
          { class: "row" },
          button("Replace credential", () => field.focus()),
        ),
      ];
}
