// The purposes bound to one app: list, add, change, remove. Each change replaces the whole app.
import type { AppView } from "../contract/admin/apps.ts";
import type { Outcome } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import { appLink, appPath, settingsOf } from "./app-form.ts";
import { formView } from "./form-view.ts";
import { isOfFile } from "./owner-view.ts";
import { purposeFields, purposeTable } from "./purpose-view.ts";
import { readRoutes } from "./route-choice.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, link, part } from "./words.ts";

export function purposesPart(visit: Visit, app: AppView): HTMLElement {
  const isOwn = !isOfFile(app);
  const nameOf = (purpose: string): Node | string =>
    isOwn ? link(appLink(visit, app, "purposes", purpose), purpose) : purpose;
  const toAdd = buttonLink(appLink(visit, app, "purposes"), "Add a purpose");
  return part(
    "App purposes",
    app.purposes.length === 0
      ? element("p", { class: "soft" }, "None. Purposes published by its routes can still be used.")
      : purposeTable(app.purposes, "Purposes of this app, on all its routes", nameOf),
    ...(isOwn ? [element("p", {}, toAdd)] : []),
  );
}

/** Null `label`: a new one. */
export async function changePurpose(visit: Visit, name: string, label: string | null): Promise<readonly Node[]> {
  const [{ data: app, etag }, routes] = await Promise.all([
    visit.readWithEtag<AppView>(appPath(name)),
    readRoutes(visit),
  ]);
  const backLink = link(appLink(visit, app), `The app ${app.slug}`);
  const found = app.purposes.findIndex(({ purpose }) => purpose === label);
  if (label !== null && found === -1)
    return [backLink, element("p", { class: "empty" }, `${app.slug} has no purpose “${label}”.`)];
  const at = label === null ? app.purposes.length : found;
  const purposes: readonly unknown[] = app.purposes;
  const putPurposes = (newPurposes: readonly unknown[]): Promise<Outcome<AppView>> =>
    visit.ask("PUT", appPath(name), { body: { ...settingsOf(app), purposes: newPurposes }, ifMatch: etag });
  const leave = (message: string) => (): void => {
    visit.say(message);
    visit.go(appLink(visit, app));
  };
  const form = formView<AppView>({
    fields: purposeFields(app.purposes[at] ?? null, routes, `purposes[${at}].`),
    submit: "Save the purpose",
    send: (body) => putPurposes(purposes.toSpliced(at, 1, body[`purposes[${at}]`])),
    done: leave("The purpose was saved. It takes effect on all processes within seconds."),
    again: () => visit.redraw(),
  });
  if (label === null) return [backLink, part(`Add a purpose to ${app.slug}`, form)];
  const isDefault = app.default_purpose === label;
  const removal = actionView<AppView>({
    label: "Remove the purpose",
    title: `Remove the purpose ${label} from ${app.slug}?`,
    what: `Requests that send it ${app.audio_purpose_policy === "strict" ? "are rejected" : "continue without it"} from now on, unless a route also publishes it.${isDefault ? " It is the app's default purpose." : ""}`,
    run: () => putPurposes(purposes.toSpliced(at, 1)),
    done: leave(`The purpose ${label} was removed.`),
    again: () => visit.redraw(),
  });
  return [backLink, part(`The purpose ${label}`, form), part("Remove", removal)];
}
