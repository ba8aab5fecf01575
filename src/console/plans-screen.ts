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
    heads: ["Plan", "Chat tokens each month", "Credits"],
    row: (plan) => [
      element("span", {}, link(visit.link("plans", [plan.id]), plan.id), ...fileTag(plan)),
      countText(plan.monthly_chat_tokens),
      usdText(plan.credits_usd),
    ],
    empty: "No plans yet. A workspace without one has no credit check: its budgets alone limit it. Make a plan below.",
  });
  const form = formView<PlanView>({
    fields: [
      {
        kind: "text",
        name: "id",
        label: "Name",
        isRequired: true,
        placeholder: "team",
        hint: "It stays. Workspaces are put on the plan by it.",
      },
      ...fieldsOf(null),
    ],
    submit: "Make the plan",
    send: (body) => visit.ask("POST", "/plans", { body }),
    done: ({ id }) => {
      visit.say(`The plan ${id} is made. No workspace is on it yet.`);
      return visit.redraw();
    },
  });
  return [plans, part("Make a plan", form)];
}

function fieldsOf(plan: PlanView | null): readonly Field[] {
  return [
    {
      kind: "number",
      name: "monthly_chat_tokens",
      label: "Chat tokens each month",
      value: plan === null ? "" : `${plan.monthly_chat_tokens}`,
      placeholder: "0",
      hint: "Plain chat draws on these first. They begin anew with each month (UTC).",
    },
    {
      kind: "text",
      name: "credits_usd",
      label: "Credits in US dollars",
      value: plan?.credits_usd ?? "",
      placeholder: "0.00",
      hint: "Once, not each month. What the tokens do not cover draws on them. A workspace can be granted more beside them.",
    },
  ];
}

async function one(visit: Visit, id: string): Promise<readonly Node[]> {
  const path = `/plans/${encodeURIComponent(id)}`;
  const [answer, workspaces] = await Promise.all([
    visit.readWithEtag<PlanView>(path),
    listView<WorkspaceView>(visit, {
      caption: "Workspaces on it, newest first",
      path: `/workspaces?plan=${encodeURIComponent(id)}`,
      heads: ["Workspace", "Made"],
      row: ({ slug, created_at: created }) => [link(linkTo(slug, "credits"), `Credits of ${slug}`), timeView(created)],
      empty: "No workspace is on this plan.",
    }),
  ]);
  const backLink = link(visit.link("plans"), "All plans");
  const [plan, ...removal] = planParts(visit, path, answer);
  return [backLink, plan, part("Who is on it", workspaces), ...removal];
}

function planParts(visit: Visit, path: string, { data: plan, etag }: Answer<PlanView>): readonly [Node, ...Node[]] {
  if (isOfFile(plan)) {
    const facts = factList([
      ["Chat tokens each month", countText(plan.monthly_chat_tokens)],
      ["Credits", usdText(plan.credits_usd)],
    ]);
    const view = part("What it includes", fileNotice("plan"), facts);
    view.querySelector("h2")?.append(...fileTag(plan));
    return [view];
  }
  const form = formView<PlanView>({
    fields: fieldsOf(plan),
    submit: "Save the plan",
    send: (body) => visit.ask("PUT", path, { body, ifMatch: etag }),
    confirm: () =>
      confirmed(
        "Change this plan?",
        `It holds at once for every workspace on ${plan.id}. What was drawn stays drawn: whoever has drawn more than the plan includes then is refused.`,
        "Change it",
      ),
    done: ({ id }) => {
      visit.say(`The plan ${id} is changed.`);
      return visit.redraw();
    },
    again: () => visit.redraw(),
  });
  return [part("What it includes", form), part("Remove it", removalOf(visit, path, plan, etag))];
}

function removalOf(visit: Visit, path: string, { id }: PlanView, etag: string | null): Node {
  return actionView({
    label: "Remove this plan",
    title: "Remove this plan?",
    what: `Only a plan that no workspace is on can be removed. ${id} can be made again later.`,
    run: () => visit.ask("DELETE", path, { ifMatch: etag }),
    done: () => {
      visit.say(`The plan ${id} is removed.`);
      visit.go(visit.link("plans"));
    },
    again: () => visit.redraw(),
  });
}
