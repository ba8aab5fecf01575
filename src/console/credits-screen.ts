// The remaining credits and monthly tokens of a workspace. The operator grants more, or takes some back.
import type { CreditsView } from "../contract/admin/plans.ts";
import { element } from "../page/element.ts";
import { newIdempotencyKey } from "../page/idempotency-key.ts";
import { confirmed } from "./dialog.ts";
import { formView } from "./form-view.ts";
import type { Visit } from "./visit.ts";
import { countText, factList, mark, momentView, part, usdText } from "./words.ts";

export async function showCredits(visit: Visit): Promise<readonly Node[]> {
  const credits = await visit.read<CreditsView>("/credits");
  return [
    ...(credits.plan === null ? [noPlan()] : [money(credits), ...tokens(credits)]),
    ...(visit.scope.listener === "admin" ? [part("Grant or revoke credits", grantForm(visit))] : []),
  ];
}

function noPlan(): HTMLElement {
  const explanation = "This workspace has no plan, so credits are not checked. Only the budgets of its apps apply.";
  return element("p", { class: "empty" }, `${explanation} Granted credits apply once it has a plan.`);
}

function money(credits: CreditsView): HTMLElement {
  const { balance_usd: balance, plan } = credits;
  const isSpent = Number(balance) <= 0;
  return part(
    "Credits",
    factList([
      ["Remaining", isSpent ? spent(balance) : mark("good", usdText(balance))],
      ["Included in the plan", `${usdText(credits.plan_credits_usd)} (${plan ?? ""})`],
      ["Granted additionally", usdText(credits.granted_usd)],
      ["Spent", usdText(credits.spent_usd)],
      ["Reserved for calls in progress", usdText(credits.reserved_usd)],
    ]),
    element(
      "p",
      { class: "soft" },
      "For metered models: audio, and chat beyond the monthly tokens. The workspace's own accounts need no credits.",
    ),
  );
}

const spent = (balance: string): HTMLElement =>
  element("span", {}, mark("bad", usdText(balance)), " Requests that need credits are rejected.");

function tokens({ allowance }: CreditsView): readonly Node[] {
  if (allowance === null) return [];
  const { monthly_chat_tokens: all, spent_tokens: spent, reserved_tokens: reserved } = allowance;
  return [
    part(
      "Chat tokens this month",
      factList([
        ["Remaining", countText(Math.max(0, all - spent - reserved))],
        ["Included in the plan", countText(all)],
        ["Spent", countText(spent)],
        ["Reserved for calls in progress", countText(reserved)],
        ["Resets", momentView(allowance.resets_at)],
      ]),
    ),
  ];
}

function grantForm(visit: Visit): HTMLElement {
  // Reused until a booking is confirmed, so that a retry after a broken connection books once.
  const idempotencyKey = newIdempotencyKey("console");
  return formView<CreditsView>({
    fields: [
      {
        kind: "text",
        name: "amount_usd",
        label: "US dollars",
        isRequired: true,
        placeholder: "25.00",
        hint: "A negative amount revokes credits: -5.00.",
      },
      {
        kind: "text",
        name: "note",
        label: "Reason",
        isRequired: true,
        placeholder: "Goodwill, outage of 3 November",
        hint: "Recorded in the audit log.",
      },
    ],
    submit: "Save",
    confirm: async ({ amount_usd: amount }) => {
      if (!String(amount).startsWith("-")) return true;
      const what =
        "When no credits remain, requests of this workspace that need credits are rejected. You can grant the amount again.";
      return confirmed(`Revoke ${usdText(String(amount).slice(1))}?`, what, "Revoke");
    },
    send: (body) => visit.ask("POST", "/credits", { body, idempotencyKey }),
    done: ({ balance_usd: balance }) => {
      visit.say(`Booked. ${usdText(balance)} remaining.`);
      return visit.redraw();
    },
    again: () => visit.redraw(),
  });
}
