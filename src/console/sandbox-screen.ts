// Sets the faults of the simulated providers: lists the active ones and adds another.
import type { SandboxFault, SandboxFaults } from "../contract/admin/sandbox-faults.ts";
import type { Outcome } from "../page/ask.ts";
import { button, element, table } from "../page/element.ts";
import { formView } from "./form-view.ts";
import { callWithError } from "./call-with-error.ts";
import { refusedAt } from "./refused-at.ts";
import { ALL, FAULT_CHOICES, FAULTS, fieldsOf, isFaultKind, titleOf, wordsOf } from "./sandbox-faults.ts";
import type { Visit } from "./visit.ts";
import { link, part } from "./words.ts";

const PATH = "/sandbox/faults";
const FIRST = "status";

export async function showSandbox(visit: Visit): Promise<readonly Node[]> {
  const { faults } = await visit.read<SandboxFaults>(PATH);
  return [
    element(
      "p",
      { class: "notice" },
      "Faults affect only simulated providers: sandbox connections and requests with test keys. They apply to the process that serves this page until they are removed or the process ends.",
    ),
    part("Active faults", ...inForce(visit, faults)),
    part("Inject fault", ...lever(visit)),
  ];
}

const replace = (visit: Visit, faults: readonly SandboxFault[]): Promise<Outcome<SandboxFaults>> =>
  visit.ask<SandboxFaults>("PUT", PATH, { body: { faults } });

function inForce(visit: Visit, faults: readonly SandboxFault[]): readonly Node[] {
  if (faults.length === 0) return [element("p", {}, "None.")];
  const problem = element("div", {});
  const keepOnly = (remaining: readonly SandboxFault[], message: string) => async () => {
    if (!(await callWithError(problem, () => replace(visit, remaining))).ok) return;
    visit.say(message);
    await visit.redraw();
  };
  const rows = faults.map((fault, place) => {
    const words = wordsOf(fault.failure);
    const removeButton = button("Remove", keepOnly(faults.toSpliced(place, 1), `${words}: removed.`));
    removeButton.setAttribute("aria-label", `Remove: ${words}`);
    return [
      words,
      fault.provider === undefined ? "all" : titleOf(fault.provider),
      fault.model ?? "all",
      fault.times === undefined ? "until removed" : `${fault.times} more`,
      removeButton,
    ];
  });
  return [
    table("Active faults", ["Fault", "Provider", "Model", "Calls", "Change"], rows),
    element("div", { class: "row" }, button("Remove all", keepOnly([], "All faults were removed."))),
    problem,
    element(
      "p",
      {},
      "Next: send a request with a test key, or to a route with a sandbox connection. See ",
      link(visit.link("requests"), "requests"),
      " for its routing and ",
      link(visit.link("health"), "providers"),
      " for the health of the models.",
    ),
  ];
}

function lever(visit: Visit): readonly Node[] {
  const requestedFault = visit.query.get("fault") ?? FIRST;
  const kind = isFaultKind(requestedFault) ? requestedFault : FIRST;
  const form = formView<SandboxFaults>({
    fields: fieldsOf(kind),
    submit: "Inject fault",
    send: async ({ failure, provider, ...where }) => {
      // Reread, because some of the faults shown may be used up.
      const now = await visit.ask<SandboxFaults>("GET", PATH);
      if (!now.ok) return now;
      const providerFilter = provider === ALL ? {} : { provider };
      const added = {
        ...providerFilter,
        ...where,
        failure: { kind, ...(failure as object | undefined) },
      } as SandboxFault;
      const outcome = await replace(visit, [...now.data.faults, added]);
      return refusedAt(outcome, (param) => param.replace(/^faults\[\d+\]\./u, ""));
    },
    done: async () => {
      visit.say("The fault was injected.");
      await visit.redraw();
    },
  });
  const chooser = element("select", { id: "fault-kind", "aria-describedby": "fault-says" });
  chooser.append(...FAULT_CHOICES.map(([value, label]) => element("option", { value }, label)));
  chooser.value = kind;
  chooser.addEventListener("change", () => visit.filter(new URLSearchParams({ fault: chooser.value })));
  const says = element("small", { id: "fault-says" }, FAULTS[kind].says);
  const label = element("label", { for: "fault-kind" }, "Fault");
  return [element("div", { class: "form" }, element("div", { class: "field" }, label, chooser, says)), form];
}
