// Plans: their contents and the workspaces on them; the operator creates, changes and removes them.
import type { PlanView } from "../contract/admin/plans.ts";
import type { WorkspaceView } from "../contract/admin/workspaces.ts";
import { element } from "../page/element.ts";
import { linkTo } from "./address.ts";
import { actionView } from "./action-view.ts";
import { confirmed } from "./dialog.ts";
import { type Field, formView } from "./form-view.ts";
import { listView } from "./list-view.ts";
import { fileNotice, fileTag, isOfFile } from "./owner-view.ts";
import type { Answer, Visit } from "./visit.ts";
import { countText, factList, link, part, timeView, usdText } from "./words.ts";

export function showPlans(visit: Visit): Promise<readonly Node[]> {
  const [id] = visit.path;
  return id === undefined ? all(visit) : one(visit, id);
}

async function all(visit: Visit): Promise<readonly Node[]> {
  const plans = await listView<PlanView>(visit, {
    caption: "Plans, by name",
    path: "/plans",
    heads: ["Plan", "Chat tokens per month", "Credits"],
    row: (plan) => [
      element("span", {}, link(visit.link("plans", [plan.id]), plan.id), ...fileTag(plan)),
      countText(plan.monthly_chat_tokens),
      usdText(plan.credits_usd),
    ],
    empty: "No plans yet. Workspaces without a plan have no credit check; only budgets apply. Create a plan below.",
  });
  const form = formView<PlanView>({
    fields: [
      {
        kind: "text",
        name: "id",
        label: "Name",
        isRequired: true,
        placeholder: "team",
        hint: "Used to assign workspaces. Cannot be changed later.",
      },
      ...fieldsOf(null),
    ],
    submit: "Create plan",
    send: (body) => visit.ask("POST", "/plans", { body }),
    done: ({ id }) => {
      visit.say(`The plan ${id} was created. No workspace uses it yet.`);
      return visit.redraw();
    },
  });
  return [plans, part("Create a plan", form)];
}

function fieldsOf(plan: PlanView | null): readonly Field[] {
  return [
    {
      kind: "number",
      name: "monthly_chat_tokens",
      label: "Chat tokens per month",
      value: plan === null ? "" : `${plan.monthly_chat_tokens}`,
      placeholder: "0",
      hint: "Used first by plain chat. They reset every month (UTC).",
    },
    {
      kind: "text",
      name: "credits_usd",
      label: "Credits in US dollars",
      value: plan?.credits_usd ?? "",
      placeholder: "0.00",
      hint: "Granted once, not monthly. Used for everything the tokens do not cover. A workspace can be granted additional credits.",
    },
  ];
}

async function one(visit: Visit, id: string): Promise<readonly Node[]> {
  const path = `/plans/${encodeURIComponent(id)}`;
  const [answer, workspaces] = await Promise.all([
    visit.readWithEtag<PlanView>(path),
    listView<WorkspaceView>(visit, {
      caption: "Workspaces on this plan, newest first",
      path: `/workspaces?plan=${encodeURIComponent(id)}`,
      heads: ["Workspace", "Created"],
      row: ({ slug, created_at: created }) => [link(linkTo(slug, "credits"), `Credits of ${slug}`), timeView(created)],
      empty: "No workspace is on this plan.",
    }),
  ]);
  const backLink = link(visit.link("plans"), "All plans");
  const [plan, ...removal] = planParts(visit, path, answer);
  return [backLink, plan, part("Workspaces", workspaces), ...removal];
}

function planParts(visit: Visit, path: string, { data: plan, etag }: Answer<PlanView>): readonly [Node, ...Node[]] {
  if (isOfFile(plan)) {
    const facts = factList([
      ["Chat tokens per month", countText(plan.monthly_chat_tokens)],
      ["Credits", usdText(plan.credits_usd)],
    ]);
    const view = part("Included", fileNotice("plan"), facts);
    view.querySelector("h2")?.append(...fileTag(plan));
    return [view];
  }
  const form = formView<PlanView>({
    fields: fieldsOf(plan),
    submit: "Save",
    send: (body) => visit.ask("PUT", path, { body, ifMatch: etag }),
    confirm: () =>
      confirmed(
        "Change this plan?",
        `It applies immediately to every workspace on ${plan.id}. Recorded usage is kept: workspaces that have used more than the plan includes are rejected.`,
        "Save",
      ),
    done: ({ id }) => {
      visit.say(`The plan ${id} was changed.`);
      return visit.redraw();
    },
    again: () => visit.redraw(),
  });
  return [part("Included", form), part("Remove", removalOf(visit, path, plan, etag))];
}

function removalOf(visit: Visit, path: string, { id }: PlanView, etag: string | null): Node {
  return actionView({
    label: "Remove plan",
    title: "Remove this plan?",
    what: `Only a plan without workspaces can be removed. ${id} can be created again later.`,
    run: () => visit.ask("DELETE", path, { ifMatch: etag }),
    done: () => {
      visit.say(`The plan ${id} was removed.`);
      visit.go(visit.link("plans"));
    },
    again: () => visit.redraw(),
  });
}
