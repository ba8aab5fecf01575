// Sets the faults of the simulated providers: lists the active ones and adds another.
import type { SandboxFault, SandboxFaults } from "../contract/admin/sandbox-faults.ts";
import type { Outcome } from "../page/ask.ts";
import { button, element, table } from "../page/element.ts";
import { formView } from "./form-view.ts";
import { toldIn } from "./told.ts";
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
      "Only the sandbox's simulated providers are touched: connections of the kind sandbox, and requests with test keys. No real provider is. What is set here holds in the process that answers this page, until it is taken back or the process ends.",
    ),
    part("Done wrong now", ...inForce(visit, faults)),
    part("Let something go wrong", ...lever(visit)),
  ];
}

const replace = (visit: Visit, faults: readonly SandboxFault[]): Promise<Outcome<SandboxFaults>> =>
  visit.ask<SandboxFaults>("PUT", PATH, { body: { faults } });

function inForce(visit: Visit, faults: readonly SandboxFault[]): readonly Node[] {
  if (faults.length === 0) return [element("p", {}, "Nothing: the simulated providers answer as they should.")];
  const problem = element("div", {});
  const keepOnly = (remaining: readonly SandboxFault[], message: string) => async () => {
    if (!(await toldIn(problem, () => replace(visit, remaining))).ok) return;
    visit.say(message);
    await visit.redraw();
  };
  const rows = faults.map((fault, place) => {
    const words = wordsOf(fault.failure);
    const removeButton = button("Take back", keepOnly(faults.toSpliced(place, 1), `${words}: taken back.`));
    removeButton.setAttribute("aria-label", `Take back: ${words}`);
    return [
      words,
      fault.provider === undefined ? "all" : titleOf(fault.provider),
      fault.model ?? "all",
      fault.times === undefined ? "until taken back" : `${fault.times} more`,
      removeButton,
    ];
  });
  return [
    table("Faults in force", ["What", "Provider", "Model", "Calls", "Change"], rows),
    element("div", { class: "row" }, button("Take all back", keepOnly([], "Everything is taken back."))),
    problem,
    element(
      "p",
      {},
      "Next: send a request with a test key, or to a route with a sandbox connection. Under ",
      link(visit.link("requests"), "requests"),
      " stands why it went where it went, under ",
      link(visit.link("health"), "providers"),
      " how the models fare.",
    ),
  ];
}

function lever(visit: Visit): readonly Node[] {
  const requestedFault = visit.query.get("fault") ?? FIRST;
  const kind = isFaultKind(requestedFault) ? requestedFault : FIRST;
  const form = formView<SandboxFaults>({
    fields: fieldsOf(kind),
    submit: "Let it go wrong",
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
      visit.say("The simulated providers will do it.");
      await visit.redraw();
    },
  });
  const chooser = element("select", { id: "fault-kind", "aria-describedby": "fault-says" });
  chooser.append(...FAULT_CHOICES.map(([value, label]) => element("option", { value }, label)));
  chooser.value = kind;
  chooser.addEventListener("change", () => visit.filter(new URLSearchParams({ fault: chooser.value })));
  const says = element("small", { id: "fault-says" }, FAULTS[kind].says);
  const label = element("label", { for: "fault-kind" }, "What goes wrong");
  return [element("div", { class: "form" }, element("div", { class: "field" }, label, chooser, says)), form];
}
