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
    ...(visit.scope.listener === "admin" ? [part("Grant or take back", grantForm(visit))] : []),
  ];
}

function noPlan(): HTMLElement {
  const explanation =
    "This workspace is on no plan, so there is no credit check: the budgets of its apps alone limit it.";
  return element("p", { class: "empty" }, `${explanation} What is granted counts once it is on one.`);
}

function money(credits: CreditsView): HTMLElement {
  const { balance_usd: balance, plan } = credits;
  const isSpent = Number(balance) <= 0;
  return part(
    "Credits",
    factList([
      ["Left", isSpent ? spent(balance) : mark("good", usdText(balance))],
      ["Included in the plan", `${usdText(credits.plan_credits_usd)} (${plan ?? ""})`],
      ["Granted beside it", usdText(credits.granted_usd)],
      ["Spent", usdText(credits.spent_usd)],
      ["Held for calls under way", usdText(credits.reserved_usd)],
    ]),
    element(
      "p",
      { class: "soft" },
      "For metered models: audio, and chat beyond the monthly tokens. Models on the workspace's own accounts need none.",
    ),
  );
}

const spent = (balance: string): HTMLElement =>
  element("span", {}, mark("bad", usdText(balance)), " What needs credits is refused.");

function tokens({ allowance }: CreditsView): readonly Node[] {
  if (allowance === null) return [];
  const { monthly_chat_tokens: all, spent_tokens: spent, reserved_tokens: reserved } = allowance;
  return [
    part(
      "Chat tokens of this month",
      factList([
        ["Left", countText(Math.max(0, all - spent - reserved))],
        ["Included in the plan", countText(all)],
        ["Spent", countText(spent)],
        ["Held for calls under way", countText(reserved)],
        ["Begin anew", momentView(allowance.resets_at)],
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
        hint: "With a minus they are taken back: -5.00.",
      },
      {
        kind: "text",
        name: "note",
        label: "Why",
        isRequired: true,
        placeholder: "Goodwill, outage of 3 November",
        hint: "It stands in the audit log.",
      },
    ],
    submit: "Book it",
    confirm: async ({ amount_usd: amount }) => {
      if (!String(amount).startsWith("-")) return true;
      const what =
        "Once nothing is left, requests of this workspace that need credits are refused. The same amount can be granted again.";
      return confirmed(`Take back ${usdText(String(amount).slice(1))}?`, what, "Take it back");
    },
    send: (body) => visit.ask("POST", "/credits", { body, idempotencyKey }),
    done: ({ balance_usd: balance }) => {
      visit.say(`Booked. ${usdText(balance)} are left.`);
      return visit.redraw();
    },
    again: () => visit.redraw(),
  });
}
