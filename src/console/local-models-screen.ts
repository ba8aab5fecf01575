// Models that run on this machine: which are installed, and pulls with their progress.
import type { LocalModelPull, LocalModelView } from "../contract/admin/local-models.ts";
import { element, table } from "../page/element.ts";
import { actionView } from "./action-view.ts";
import type { Page, Visit } from "./visit.ts";
import { mark, percentText } from "./words.ts";

const PATH = "/local-models";
const REDRAW_MS = 1_000;

export async function showLocalModels(visit: Visit): Promise<readonly Node[]> {
  const { data } = await visit.read<Page<LocalModelView>>(PATH);
  if (data.some(({ pull }) => pull?.state === "running")) redrawLater(visit);
  const heads = ["Model", "State", "Languages", "Download", "Licence", "Change"];
  return [
    table(
      "Models that run on this machine",
      heads,
      data.map((model) => rowOf(visit, model)),
    ),
    element(
      "p",
      { class: "notice" },
      "A pull runs in the process that serves this page. Sizes and checksums that are second-hand are compared by the first pull.",
    ),
  ];
}

/** Each drawing schedules the next one, as long as a pull is running. */
function redrawLater(visit: Visit): void {
  const timer = setTimeout(() => void visit.redraw(), REDRAW_MS);
  visit.signal.addEventListener("abort", () => clearTimeout(timer));
}

function rowOf(visit: Visit, model: LocalModelView): readonly (Node | string)[] {
  const { name, title, languages, licence, download_bytes: bytes } = model;
  const link = element("a", { href: licence.url, rel: "noreferrer" }, licence.id);
  return [
    element("div", {}, name, element("span", { class: "soft" }, title)),
    stateOf(model),
    languages.length > 3 ? `${languages.length} languages` : languages.join(", ") || "any",
    element(
      "div",
      {},
      megabytes(bytes),
      element("span", { class: "soft" }, model.figures === "confirmed" ? "confirmed" : "second-hand"),
    ),
    link,
    changeOf(visit, model),
  ];
}

function stateOf({ state, damage, pull }: LocalModelView): Node {
  if (pull?.state === "running") return mark("busy", progressOf(pull));
  if (pull?.state === "failed")
    return element("div", {}, mark("bad", "pull failed"), element("span", { class: "soft" }, pull.error ?? ""));
  if (state === "installed") return mark("good", "installed");
  return state === "damaged" ? mark("bad", `damaged: ${damage ?? ""}`) : mark("soft", "not installed");
}

function progressOf({ phase, bytes, total_bytes: total }: LocalModelPull): string {
  return phase === "downloading" && total > 0 ? `downloading ${percentText(bytes / total)}` : phase;
}

function changeOf(visit: Visit, model: LocalModelView): Node | string {
  const { name, licence, state, pull, download_bytes: bytes } = model;
  const path = `${PATH}/${encodeURIComponent(name)}/pull`;
  const done = (): Promise<void> => visit.redraw();
  if (pull?.state === "running")
    return actionView({
      label: "Stop",
      name: `Stop: ${name}`,
      tone: "plain",
      title: `Stop the pull of ${name}?`,
      what: "What was downloaded is kept, and the next pull continues there.",
      run: () => visit.ask<LocalModelView>("DELETE", path),
      done,
    });
  if (state === "installed") return "";
  return actionView({
    label: "Pull",
    name: `Pull: ${name}`,
    tone: "plain",
    title: `Pull ${name}?`,
    what: `${megabytes(bytes)} are downloaded. This accepts the licence ${licence.id} (${licence.url}). Credit: ${licence.attribution}.`,
    run: () => visit.ask<LocalModelView>("POST", path, { body: { licence: licence.id } }),
    done,
  });
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
